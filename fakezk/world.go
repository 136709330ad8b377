package fakezk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/engine"
)

// A World runs clients against a server in virtual time, under a plan of
// faults. It is a description: Run may be called many times and gives the same
// Result, byte for byte, each time.
//
// Every message between a client and the server takes a latency that is a hash
// of the seed and the message's coordinates; that is what orders things, so
// another seed is another schedule. Time is that of a testing/synctest bubble:
// it passes only when everything waits.
//
// A client's script may use any code on *zk.Conn. What would make it behave
// differently in two runs of one seed is its own: package-level state shared
// between runs or clients, math/rand's global source, map order, and goroutines of
// one client that race for something that the World does not order. It orders
// their requests, by content. It cannot order, when several of them run at the
// same instant: equal requests, draws from crypto/rand (which is seeded within the
// World), and a select over two watches that one event or an expiry fires at
// once. Two runs of one seed, compared, show such a race; [Client.Hands] avoids it.
//
// The client's ErrNoServer does not occur in a World: whether it hits a request
// or not depends on the scheduler alone. For the same reason a Conn that is closed
// while its dials are refused goes on dialing, and closes its session when it gets
// through; a request begun after Close has a random outcome.
type World struct {
	// Seed chooses the schedule.
	Seed uint64
	// Plan is what goes wrong, if anything.
	Plan []Fault
	// Schedule is what orders the messages; the zero value gives each a latency.
	Schedule Schedule
	// Clients are the actors. Their order matters to the schedule.
	Clients []Actor
	// Server are the server's settings.
	Server Options
	// Nodes exist from the beginning: path to data.
	Nodes map[string]string
	// Next are the numbers that the next sequential children of some of these nodes
	// get: path to number. The last number is 2147483647, which all children get
	// from then on. Servers before 3.6 went on with -2147483648 (ZOOKEEPER-3249), and
	// a tree that comes from one goes on from there: so a number may be negative.
	Next map[string]int32
	// SessionTimeout is what clients ask for; 0 means 10 s.
	SessionTimeout time.Duration
	// ClientBuffer is the length in bytes of the longest frame that a client sends
	// or takes; 0 means 64 KiB. The client allocates its buffers anew at each
	// connection; its own default of 1.5 MB would be most of the cost of a run.
	ClientBuffer int
	// Limit ends the run at this virtual time even if scripts are still busy;
	// 0 means 10 minutes.
	Limit time.Duration
	// Settle is how long, after the last script has ended and the last delay or stall
	// has let go, the World goes on without faults, so that clean-up in the background
	// can finish; 0 means two session timeouts.
	Settle time.Duration
	// MaxSteps ends a run after so many steps, whatever it is about, before the Limit
	// and without going on to settle; 0 means a million. See [Result.OutOfSteps].
	MaxSteps int64
	// Freeze is how much real time may pass without a step before the run is
	// given up as frozen; 0 means 20 s. It is for code that spins or holds a
	// mutex while it waits: neither lets virtual time pass.
	Freeze time.Duration

	undisciplined bool // negative control: no canonical order, see the tests
}

// An Actor is a client by name and what it does. When Run returns, the client
// is done; ctx ends when the World does.
type Actor struct {
	// Name is made of letters, digits, '-' and '_'.
	Name string
	Run  func(ctx context.Context, c *Client)
}

// Result is what happened.
type Result struct {
	// Trace is the canonical record.
	Trace Trace
	// Requests are the requests that reached the server, or that a fault kept from
	// it, in order; pings and handshakes left out. They are the coordinates of
	// faults.
	Requests []RequestPoint
	// Events are the watch notifications that the server sent, in order.
	Events []EventPoint
	// Changes are the changes of tree and sessions, in order.
	Changes []Change
	// Notices are what the clients learnt of their sessions, in order.
	Notices []Notice
	// Nodes, Sessions and Watches are the server's state at rest, before the
	// connections were closed; SessionClient tells whose each session is or was.
	Nodes         []Node
	Sessions      []Session
	Watches       []Watch
	SessionClient map[int64]string
	// Busy are the clients whose scripts had not ended at the Limit. BusyStacks tell
	// where each of them was then, its hands one below the other; they are nil of a
	// RealWorld.
	Busy, BusyStacks []string
	// OutOfSteps says that MaxSteps ended the run: scripts may be busy, faults may
	// still be acting, and nothing has settled.
	OutOfSteps bool
	// Strikes are the faults that struck, in order. Missed are those of the plan whose
	// coordinates matched nothing.
	Strikes []Strike
	Missed  []Fault
	// Decisions are the choices between messages that there were, of a World whose
	// Schedule is by Choices.
	Decisions []Decision
	// Panics are the scripts that panicked or ended their goroutine, as t.Fatal does,
	// with their stacks.
	Panics []string
	// Leaked tells of goroutines that could not be ended; Frozen of a run that
	// had to be given up. Both are empty in a good run and hold stacks otherwise.
	Leaked, Frozen string
	// Elapsed is the virtual time from start to rest; Steps counts the steps.
	Elapsed time.Duration
	Steps   int64
	// Stalled and Down are of a RealWorld only. Stalled is the longest that the
	// machine kept it from going on: a timer that was late, or a server that took
	// its time to answer. What has to happen within some time is not to be judged by
	// a run that was stalled for longer. Down is how long the server was down for
	// each Restart, the longest of them.
	Stalled, Down time.Duration
}

// A Strike is a fault that acts.
type Strike struct {
	Fault Fault
	// Client is whose request, notification, connection or session it acts on; ""
	// stands for everybody.
	Client string
	// Op is the request, or the type of the notification; "" if it came at a time.
	Op, Path string
	Step     int64
}

// RequestPoint is one request as a coordinate for faults.
type RequestPoint struct {
	Client string
	// Number counts the client's requests from 1, over all its connections.
	Number int
	// Conn counts the client's connections from 1.
	Conn     int
	Op, Path string
	Step     int64
}

// EventPoint is one watch notification as a coordinate for faults.
type EventPoint struct {
	Client string
	// Number counts the client's notifications from 1, over all its connections.
	Number     int
	Type, Path string
	Step       int64
}

// ChangeKind says what a Change did.
type ChangeKind string

// The kinds of Change.
const (
	NodeCreated    ChangeKind = "node-created"
	NodeDeleted    ChangeKind = "node-deleted"
	DataChanged    ChangeKind = "data-changed"
	SessionStarted ChangeKind = "session-started"
	SessionEnded   ChangeKind = "session-ended"
)

// Change is one change at the server.
type Change struct {
	Kind ChangeKind
	// Step is a trace line number; see Trace.
	Step int64
	Time time.Duration
	Path string
	Data []byte
	// Zxid is the transaction; Czxid that which created the node.
	Zxid, Czxid int64
	// Session asked for it; 0 is the server itself, which ends sessions that
	// expire. Client is the session's.
	Session int64
	Client  string
	// Owner is the session that owns the node, if it is ephemeral, or that starts
	// or ends.
	Owner int64
	// Notified counts the watch notifications that the change caused, without
	// those to whoever made it.
	Notified int
}

// NoticeKind says what a client learnt.
type NoticeKind string

// The kinds of Notice.
const (
	Disconnected   NoticeKind = "disconnected"
	Connected      NoticeKind = "connected"
	SessionExpired NoticeKind = "session-expired"
)

// Notice is something that a client's library told it about its session.
type Notice struct {
	Client string
	Kind   NoticeKind
	Step   int64
	Time   time.Duration
}

var clientName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Validate says what is wrong with the description, or returns nil.
func (w World) Validate() error {
	if w.SessionTimeout < 0 || w.Limit < 0 || w.Settle < 0 || w.Freeze < 0 || w.MaxSteps < 0 || w.ClientBuffer < 0 {
		return fmt.Errorf("SessionTimeout, Limit, Settle, Freeze, MaxSteps and ClientBuffer must not be negative")
	}
	if err := w.Schedule.Validate(); err != nil {
		return err
	}
	scratch := engine.New(w.Server.withDefaults().engineConfig(), time.Unix(0, 0))
	for _, path := range slices.Sorted(maps.Keys(w.Nodes)) {
		if err := put(scratch, path, nil, time.Unix(0, 0), func(engine.Reaction) {}); err != nil {
			return fmt.Errorf("nodes: %w", err)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(w.Next)) {
		if n, ok := scratch.Store().Node(path); !ok || w.Next[path] >= 0 && w.Next[path] < n.Created {
			return fmt.Errorf("next: %d for %q: expected a path of Nodes or one of their parents, and a number of %d at least, or below 0", w.Next[path], path, n.Created)
		}
	}
	seen := map[string]bool{}
	for _, a := range w.Clients {
		if a.Name == "server" || a.Name == "fault" {
			return fmt.Errorf("client name %q: the trace calls something else so", a.Name)
		}
		if !clientName.MatchString(a.Name) {
			return fmt.Errorf("client name %q: expected letters, digits, - and _", a.Name)
		}
		if seen[a.Name] {
			return fmt.Errorf("client name %q is used twice", a.Name)
		}
		seen[a.Name] = true
		if a.Run == nil {
			return fmt.Errorf("client %q has nothing to run", a.Name)
		}
	}
	for i, f := range w.Plan {
		if err := f.Validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
		if f.Client != "" && !seen[f.Client] {
			return fmt.Errorf("fault %d: %q: no client is called %q", i+1, f, f.Client)
		}
	}
	return nil
}

func (w World) withDefaults() World {
	w.Server = w.Server.withDefaults()
	if w.SessionTimeout == 0 {
		w.SessionTimeout = DefaultSessionTimeout
	}
	if w.ClientBuffer == 0 {
		w.ClientBuffer = 64 << 10
	}
	if w.Limit == 0 {
		w.Limit = 10 * time.Minute
	}
	if w.Settle == 0 {
		w.Settle = 2 * w.SessionTimeout
	}
	if w.MaxSteps == 0 {
		w.MaxSteps = 1_000_000
	}
	if w.Freeze == 0 {
		w.Freeze = 20 * time.Second
	}
	w.Freeze = max(w.Freeze, time.Millisecond)
	return w
}

// Run makes it happen, in a bubble of its own, and returns when everything has
// ended. It must not be called inside a synctest bubble. An error means that
// the description is wrong; whatever goes wrong in the run is in the Result.
func (w World) Run() (*Result, error) {
	if bubble.Name() != "" {
		return nil, errors.New("fakezk: world: Run makes a synctest bubble of its own and cannot be called inside one")
	}
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("fakezk: world: %w", err)
	}
	w = w.withDefaults()
	sim := newSimulation(w)
	ended := make(chan *bubble.Failure, 1)
	go func() { ended <- bubble.Run(w.Seed, sim.run) }()
	failure, stacks := sim.watch(ended)
	return sim.result(failure, stacks), nil
}
