package realworld

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// run is one run of a World. Everything happens under its mutex: a frame from a client
// or from the server is noted, the faults that select it act, and it goes on its way.
// So the lines of the trace are in the order in which frames passed the proxy.
//
// The proxy adds to the rules of package carry: it ends a session by a second connection, which
// takes time; a restart kills a process; and only the reply's xid shows which output belongs to a
// request. So only the reply itself is damaged, and notifications before it have passed.
type run struct {
	world World
	start time.Time
	ctx   context.Context // of the scripts

	scripts, background, readers sync.WaitGroup

	mu        sync.Mutex
	clients   []*Client
	net       *carry.Network
	links     map[int64]*link // of the connections of net
	lastConn  int64
	answering int          // the server that has answered last past the proxy
	down      map[int]bool // the servers that are being restarted
	closing   bool         // the end: nothing is counted
	ended     bool         // nothing is noted any more
	failures  []error
	out       trace.Result

	stalled  time.Duration // real time
	downFor  time.Duration // how long some server was down, up to downFrom if one is down
	downFrom time.Duration
	restZxid int64        // the newest when the world was at rest
	root     string       // of a guest
	endNote  func()       // ends the note that a guest is there
	ids      []proto.Auth // of the clients of a guest
	lines    []trace.Line
	wallMs   []int64 // of each line
	sessions map[int64]*session
	calls    map[call]*request // by their names in the log
	answers  []*request        // in the order of their requests
	events   []event
	notes    trace.Notes
}

// session is a session of a client.
type session struct {
	client   *Client
	password []byte
	timeout  time.Duration  // that the server has granted
	lastSent time.Time      // when the newest frame went to a server
	expired  time.Time      // when a fault began to end it
	over     bool           // a fault, its client or the server has ended it
	marked   bool           // a guest has made its nodes
	began    proto.LogEntry // of a guest at rest, without a zxid if it is unknown
	ended    proto.LogEntry // likewise, if it has ended
}

// call names a request as the transaction log does. A handshake that asks for a
// new session has the xid 0.
type call struct {
	session int64
	xid     int32
}

func newRealRun(w World) *run {
	r := &run{world: w, net: carry.New(w.Plan...), links: map[int64]*link{}, down: map[int]bool{},
		sessions: map[int64]*session{}, calls: map[call]*request{}}
	r.out.SessionClient = map[int64]string{}
	r.net.Serve(carry.Ensemble{Servers: len(w.Servers)})
	return r
}

// real is how long a virtual duration takes.
func (r *run) real(virtual time.Duration) time.Duration {
	return virtual / time.Duration(r.world.Pace)
}

// now is the virtual time.
func (r *run) now() time.Duration { return time.Since(r.start) * time.Duration(r.world.Pace) }

// log writes a line; the mutex is held. The arguments are formatted later.
func (r *run) log(actor, format string, args ...any) trace.Moment {
	if r.ended {
		return trace.AfterEnd
	}
	at := trace.NewMoment(int64(len(r.lines))+1, 0, 0)
	r.lines = append(r.lines, trace.Line{At: at, Time: r.now(), Actor: actor, Format: format,
		Args: args})
	r.wallMs = append(r.wallMs, time.Now().UnixMilli())
	return at
}

// stall notes that something took so long, in real time.
func (r *run) stall(d time.Duration) { r.stalled = max(r.stalled, d) }

// watchClock notes how late timers are, until stop is closed.
func (r *run) watchClock(stop <-chan struct{}) {
	const every = 5 * time.Millisecond
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for last := time.Now(); ; last = time.Now() {
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
		r.mu.Lock()
		r.stall(time.Since(last) - every)
		r.mu.Unlock()
	}
}

// downtime is how long some server has been down for restarts, in virtual time.
func (r *run) downtime() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.down) > 0 {
		return r.downFor + r.now() - r.downFrom
	}
	return r.downFor
}

// trouble is why the world itself did not work.
func (r *run) trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.failures...)
}

// script runs a client's script to its end.
func (r *run) script(c *Client, run func(context.Context, *Client)) {
	defer r.scripts.Done()
	returned := false
	defer func() {
		trouble := recover()
		if trouble == nil && !returned {
			trouble = tracetext.Exited
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		c.done = true
		if trouble != nil {
			r.log(c.name, "panics: %v", trouble)
			r.out.Panics = append(r.out.Panics,
				fmt.Sprintf("client %s: panic: %v\n%s", c.name, trouble, debug.Stack()))
		}
	}()
	run(r.ctx, c)
	returned = true
}

// conclude puts the Result together: the log's changes at their places, and
// moments as lines of the trace.
func (r *run) conclude(base int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	changes, err := r.changesBehind(base)
	if err != nil {
		return err
	}
	for _, c := range changes {
		r.lines = append(r.lines, trace.Line{At: c.at, Time: c.Time, Actor: "server", Format: "%s",
			Args: []any{tracetext.Change(c.Change)}})
		r.notes.Change(c.at, c.Change)
	}
	out := &r.out
	out.Trace = trace.New(r.lines)
	out.Missed = r.net.Missed()
	out.Steps, out.Stalled = int64(len(r.lines)), r.stalled*time.Duration(r.world.Pace)
	r.notes.Into(out)
	return nil
}
