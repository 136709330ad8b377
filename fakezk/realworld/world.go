package realworld

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
)

// SuperPassword is how a World authenticates as the superuser, in scheme digest, when it
// cleans a server and reads its nodes. SuperDigest is the value of the server's system
// property zookeeper.DigestAuthenticationProvider.superDigest that allows it.
const (
	SuperPassword = "super:zksim"
	SuperDigest   = "super:RSJ5AS7hvpmFZA+fp7Kvi+RqM/8="
)

// Server is a running ZooKeeper, 3.6 or newer: a standalone one, or one of an ensemble, that only
// one World uses at a time. It answers the four-letter words srvr and dump. Where clients make
// nodes that not every client may read, it must know the superuser by [SuperDigest].
type Server interface {
	// Address is host:port.
	Address() string
	// DataDir is the folder with the transaction log, "" for a server of [At].
	DataDir() string
	// Restart kills the server, waits for down, and starts it again at the same
	// address with the same data.
	Restart(ctx context.Context, down time.Duration) error
}

// A World is like a [sim.World], but its servers are real ZooKeepers and its time is
// real. The clients are genuine too. Between them and each server stands a proxy, in
// which the faults of the plan act. Run returns a Result of the same shape.
//
// Its limits:
//
//   - Two runs differ: the machine decides the schedule.
//   - LateReap, Lag, Isolate, Pause, Crash and Respawn are refused; see [Refuse].
//   - A failover takes as long as the ensemble takes to elect a leader. It loses or keeps the
//     request that the fault selects. Nobody chooses whether the new leader keeps the proposals of
//     other clients that are under way then.
//   - An event that a request causes to its own client is not lost with the reply
//     (DropReply, Cut): it has passed when the reply comes.
//   - Restart takes at least as long as the server takes to start. A restart of the leader is a
//     failover, too.
//   - Delay, Stall and Blackhole hold or discard bytes in the proxy. Bytes that the server had
//     received before are not affected.
//
// The changes are read from the transaction logs of the servers at the end of the run: those that a
// majority has. Each change is put at the earliest possible place in the trace, given all frames
// that the proxy saw: behind its own request, behind every request that was answered with a smaller
// zxid, and not before the server's clock says. Reads of an ensemble do not count there, since a
// follower may answer with an old zxid. So the Result is a history that is possible, and no
// stricter one.
type World struct {
	// Servers are a standalone server, or all servers of one ensemble in the order of the numbers
	// by which faults select them. They are used by this World alone. All znodes but those below
	// /zookeeper are deleted first.
	Servers []Server
	// Plan is the list of faults; it may be empty. Its durations are virtual.
	Plan []fault.Fault
	// Clients are the actors.
	Clients []Actor
	// Pace is how many virtual seconds pass in one real second; 0 means 1. All
	// durations here and in the Result are virtual.
	Pace int
	// SessionTimeout is the timeout that clients request; 0 means 10 s. The server grants no less
	// than two of its ticks, which are in real time.
	SessionTimeout time.Duration
	// Limit ends the run even if scripts are still busy; 0 means 10 minutes.
	Limit time.Duration
	// Settle is how long the world goes on without faults after the last script has ended
	// and nothing is held any more; 0 means two session timeouts.
	Settle time.Duration
}

// An Actor is the name and the script of a client.
type Actor struct {
	// Name is made of letters, digits, '-' and '_'.
	Name string
	Run  func(ctx context.Context, c *Client)
}

// Validate returns an error for an invalid description.
func (w World) Validate() error {
	if len(w.Servers) == 0 || slices.Contains(w.Servers, nil) {
		return errors.New("no server is given")
	}
	for _, s := range w.Servers {
		if (s.DataDir() == "") != w.guest() {
			return errors.New("some servers have a DataDir; expected all or none")
		}
	}
	if w.Pace < 0 {
		return fmt.Errorf("pace: %d; expected 1 or more", w.Pace)
	}
	actors := make([]sim.Actor, len(w.Clients))
	for i, a := range w.Clients {
		actors[i].Name = a.Name
		if a.Run != nil {
			actors[i].Run = func(context.Context, *sim.Client) {}
		}
	}
	like := sim.World{Plan: w.Plan, Clients: actors, Servers: len(w.Servers),
		SessionTimeout: w.SessionTimeout, Limit: w.Limit, Settle: w.Settle}
	if err := like.Validate(); err != nil {
		return err
	}
	for i, f := range w.Plan {
		if err := Refuse(f.Kind, w.guest()); err != nil {
			return fmt.Errorf("fault %d: %q: %w", i+1, f, err)
		}
	}
	return nil
}

// Refuse returns the reason for which a World cannot have faults of a kind, nil if it can. guest
// says that its servers are those of [At].
func Refuse(kind fault.Kind, guest bool) error {
	switch {
	case guest && slices.Contains(killing, kind):
		return fmt.Errorf("%s: somebody else runs the servers, and they are not killed", kind)
	case kind == fault.LateReap:
		return fmt.Errorf("%s: no proxy can make a real server late to reap", kind)
	case kind == fault.Lag:
		return fmt.Errorf("%s: no proxy can keep a real server from applying changes", kind)
	case kind == fault.Isolate:
		return fmt.Errorf("%s: no proxy is between the servers of an ensemble", kind)
	case kind == fault.Pause:
		return fmt.Errorf("%s: only a client at rest can keep a reply from its caller", kind)
	case kind.EndsProcess():
		return fmt.Errorf("%s: the clients of a real world share the process of the test", kind)
	}
	return nil
}

// serverAddresses are those of the servers themselves; run.addresses are those for clients.
func (w World) serverAddresses() (list []string) {
	for _, s := range w.Servers {
		list = append(list, s.Address())
	}
	return list
}

// killing are the kinds that end a server.
var killing = []fault.Kind{fault.Restart, fault.FailoverLose, fault.FailoverKeep}

func (w World) withDefaults() World {
	w.SessionTimeout = cmp.Or(w.SessionTimeout, 10*time.Second)
	w.Limit = cmp.Or(w.Limit, 10*time.Minute)
	w.Settle = cmp.Or(w.Settle, 2*w.SessionTimeout)
	w.Pace = max(w.Pace, 1)
	return w
}

// Run runs the World and returns when everything has ended. It returns an error if
//
//   - the description is invalid;
//   - a server could not be used;
//   - ctx is done;
//   - the record of the changes and the frames at the proxy contradict each other.
//
// When ctx is done it returns within ten seconds. On servers of [At] it may take thirty: it deletes
// its nodes first. Errors of nodes that it could not delete wrap a [LeftError].
func (w World) Run(ctx context.Context) (*trace.Result, error) {
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("fakezk: real world: %w", err)
	}
	r := newRealRun(w.withDefaults())
	err := r.play(ctx)
	if r.root != "" {
		err = errors.Join(err, r.deleteNodes())
	}
	if err != nil {
		return nil, fmt.Errorf("fakezk: real world: %w", err)
	}
	return &r.out, nil
}

// play is the run from beginning to end.
func (r *run) play(ctx context.Context) error {
	base, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	scripts, cancel := context.WithCancel(ctx)
	defer cancel()
	calm := make(chan struct{})
	go r.watchClock(calm)
	r.begin(scripts)
	r.await(ctx)
	r.heal()
	r.background.Wait()
	r.pause(ctx, r.held()+r.world.Settle)
	close(calm)
	atRest := r.noteAtRest(ctx)
	cancel()
	r.tearDown()
	if ctx.Err() != nil {
		return reasonOf(ctx) // it may have caused other errors
	}
	if err := errors.Join(atRest, r.trouble()); err != nil {
		return err
	}
	return r.conclude(base)
}

// reasonOf is why ctx is done, such as a signal. It is also the error of ctx.
func reasonOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ctx.Err()) {
		return cause
	}
	return fmt.Errorf("%w: %w", ctx.Err(), cause)
}

// prepare leaves no nodes of others to the clients, and returns the newest zxid.
func (r *run) prepare(ctx context.Context) (base int64, err error) {
	if ctx.Err() != nil {
		return 0, reasonOf(ctx)
	}
	if r.world.guest() {
		return 0, r.createNodes()
	}
	if err := r.clean(ctx); err != nil {
		return 0, fmt.Errorf("clean the server: %w", err)
	}
	_, base, err = r.leader(ctx)
	return base, err
}

// begin starts the scripts and the timers of faults.
func (r *run) begin(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx, r.start = ctx, time.Now()
	for i, a := range r.world.Clients {
		c := &Client{run: r, name: a.Name, peer: carry.Client{ID: int64(i) + 1, Name: a.Name}}
		r.clients = append(r.clients, c)
		r.scripts.Add(1)
		go r.script(c, a.Run)
	}
	for _, f := range r.net.Armed() {
		if f.At != 0 {
			time.AfterFunc(r.real(f.At), func() { r.strike(f) })
		}
	}
}

// await waits for the scripts to end, or the Limit and as long as the server was down besides.
func (r *run) await(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.scripts.Wait()
	}()
	for rest := r.world.Limit; rest > 0; rest = r.world.Limit + r.downtime() - r.now() {
		limit := time.NewTimer(r.real(rest))
		select {
		case <-ended:
		case <-limit.C:
			continue
		case <-ctx.Done():
		}
		limit.Stop()
		break
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.clients {
		if !c.done {
			r.out.Busy = append(r.out.Busy, c.name)
		}
	}
}

func (r *run) pause(ctx context.Context, virtual time.Duration) {
	select {
	case <-time.After(r.real(virtual)):
	case <-ctx.Done():
	}
}

// heal lets dials succeed again. Held messages arrive at their time.
func (r *run) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.net.Heal()
}

// held is for how long delays and stalls still hold something, in virtual time.
func (r *run) held() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, r.net.HeldUntil()-r.now())
}

// tearDown closes the clients and ends all connections. The journal has ended.
func (r *run) tearDown() {
	var conns []interface{ Close() }
	r.mu.Lock()
	r.closing = true
	for _, c := range r.clients {
		for _, conn := range c.conns {
			conns = append(conns, conn)
		}
	}
	r.mu.Unlock()
	r.closeListeners()
	for _, conn := range conns {
		r.background.Add(1)
		go func() {
			defer r.background.Done()
			conn.Close()
		}()
	}
	r.background.Wait()
	r.endLinks()
	if !r.scriptsEnd(tearDownPatience) {
		r.out.Leaked = "scripts that did not end with their context\n" + bubble.Stacks()
	}
	r.readers.Wait()
}

// tearDownPatience is real time.
const tearDownPatience = 10 * time.Second

func (r *run) scriptsEnd(within time.Duration) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.scripts.Wait()
	}()
	select {
	case <-ended:
		return true
	case <-time.After(within):
		return false
	}
}

// endLinks resets every connection that is left.
func (r *run) endLinks() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.net.Conns() {
		r.carryOut(c.Reset(syscall.ECONNRESET))
	}
}
