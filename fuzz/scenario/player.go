package scenario

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// Player is one client in the script of a workload: its connection, virtual time, draws, and a
// record of calls and results. A Player belongs to the goroutine of its script. Each of several
// goroutines of a client has a Player, with another name, other draws and a separate record; see
// [Shared].
type Player struct {
	ctx       context.Context
	life      context.Context
	client    client
	others    []*Player // those of the client's further goroutines
	before    *Player   // in the process of the client that has died; nil in the first one
	resume    []int     // the rounds in which its loops over rounds were interrupted
	loops     []int     // the present round of each loop over rounds
	index     int
	text      string // of the next line in the trace
	calls     *linearizability.Recorder
	lossNotes *linearizability.Recorder
	seed      uint64
	drawn     func(*Player, string, int) // called with each draw; nil outside of tests
	careless  bool                       // the script is
	faults    int                        // of the run
	signals   bool                       // the object under test has a signal for losses
	token     int64                      // of the last successful call with one
	calling   bool
	deadline  time.Duration // of the call that is under way or comes next; 0: it has none
	reached   []string
	optional  map[string]bool               // methods of the object: whether they were called
	shared    atomic.Bool                   // the object is made for several goroutines
	held      bool                          // for minutes, once
	rested    bool                          // the same
	open      bool                          // the script has left an object that has a Close
	session   *atomic.Pointer[func() int64] // of NameSession, shared by the client's goroutines
}

// client is the part of a world that a player needs: a goroutine of a client of a [sim.World], or a
// client of a [realworld.World], which has one goroutine only.
type client interface {
	// Name is the name of the goroutine, Number its place among the goroutines of the client from
	// 0, and Of the name of the client.
	Name() string
	Number() int
	Of() string
	Conn() *zk.Conn
	// Connect makes one more connection, and returns its session events, too.
	Connect() (*zk.Conn, <-chan zk.Event)
	// Session is the session of Conn, 0 if the client has called Connect or its own code has
	// dialed.
	Session() int64
	// Address is an address for the client's own code to dial.
	Address() string
	Sleep(ctx context.Context, d time.Duration) error
	Now() time.Duration
	// At is the value of Now at the moment when the clock shows t. It is equal for all clients of a
	// world.
	At(t time.Time) time.Duration
	Note(format string, args ...any) trace.Moment
	NoteAside(format string, args ...any) trace.Moment
	// Pace is the number of seconds of the world's time that pass in one second of the clock.
	Pace() int
}

// worldClient is a goroutine of a client in a World. In the bubble of a World the clock shows the
// time of the World.
type worldClient struct{ *sim.Goroutine }

func (c worldClient) Of() string { return c.Client.Name() }
func (worldClient) Pace() int    { return 1 }

// Address is served by the overlay.
func (worldClient) Address() string { return sim.Address }

func (c worldClient) At(t time.Time) time.Duration { return c.Now() + time.Until(t) }

// realClient is a client in a RealWorld.
type realClient struct{ *realworld.Client }

func (c realClient) Of() string { return c.Name() }
func (realClient) Number() int  { return 0 }

func newPlayer(ctx context.Context, c client, index int, seed uint64) *Player {
	p := &Player{ctx: ctx, life: ctx, client: c, index: index, seed: seed,
		session: new(atomic.Pointer[func() int64])}
	p.calls = linearizability.NewRecorder(func() int64 {
		return int64(c.Note("%s", p.text))
	}, c.Now)
	p.lossNotes = linearizability.NewRecorder(func() int64 {
		return int64(c.NoteAside("is told: lost"))
	}, c.Now)
	return p
}

// play runs the script of a client.
func (p *Player) play(s Scenario) {
	life, end := context.WithCancel(p.ctx)
	defer end()
	p.life = life
	s.Workload.Play(p, s.Script)
}

// Name is the client's name: a, b, c, ... Its further goroutines are called a.2, a.3, ... When a
// client's process has died, the next one is called a'.
func (p *Player) Name() string { return p.client.Name() }

// Owner is the name of the client, the same for each of its processes.
func (p *Player) Owner() string { return strings.TrimRight(p.Name(), "'") }

// Index is the client's place among the others, from 0.
func (p *Player) Index() int { return p.index }

// Conn is the client's connection, made at the first call.
func (p *Player) Conn() *zk.Conn { return p.client.Conn() }

// Connect makes one more connection of the client, with its own session. The channel has the
// session's events, like the channel of zk.Connect.
func (p *Player) Connect() (*zk.Conn, <-chan zk.Event) { return p.client.Connect() }

// NameSession is for an object that makes connections itself: from now on the function session
// gives the session of each result of the client. 0 means that it is unknown.
func (p *Player) NameSession(session func() int64) { p.session.Store(&session) }

// Address is an address, host:port, for code that connects by itself. In a World it needs a program
// built by zksim go; see [sim.Overlaid]. In a real world it needs nothing.
func (p *Player) Address() string { return p.client.Address() }

// Context is done when the World ends.
func (p *Player) Context() context.Context { return p.ctx }

// Life is a context that is done when the client's script has ended, for an object that works until
// its owner ends.
func (p *Player) Life() context.Context { return p.life }

// Rounds yields the numbers of n rounds. A client whose process has died, and which begins anew,
// goes on with the round that was interrupted.
func (p *Player) Rounds(n int) iter.Seq[int] {
	loop := len(p.loops)
	p.loops = append(p.loops, 0)
	if loop < len(p.resume) {
		p.loops[loop] = p.resume[loop]
	}
	return func(yield func(int) bool) {
		for ; p.loops[loop] < n && yield(p.loops[loop]); p.loops[loop]++ {
		}
	}
}

// Interrupted reports whether the present round of the first loop over [Player.Rounds] was begun by
// a process that has died.
func (p *Player) Interrupted() bool {
	return len(p.resume) > 0 && len(p.loops) > 0 && p.loops[0] == p.resume[0]
}

// succeed makes p the player of the next process.
func (p *Player) succeed(before *Player) {
	p.before, p.held, p.rested = before, before.held, before.rested
	p.resume = slices.Clone(before.loops)
	if n := len(before.loops); n < len(before.resume) { // it died before it began all loops
		p.resume = append(p.resume, before.resume[n:]...)
	}
}

// Pause sleeps in virtual time and reports whether the World still runs.
func (p *Player) Pause(d time.Duration) bool { return p.client.Sleep(p.ctx, d) == nil }

// Within returns a context that is done after d of virtual time. Use it and not
// context.WithTimeout, which counts time of the clock: in a real world virtual time passes faster.
func (p *Player) Within(ctx context.Context, d time.Duration) (context.Context,
	context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d/time.Duration(p.client.Pace()))
	p.expect(p.client.Now() + d)
	return ctx, func() {
		cancel()
		if !p.calling {
			p.deadline = 0
		}
	}
}

// expect notes the time at which the context of the next call, or of the present call, is done. It
// notes nothing if virtual time passes faster than the clock: a busy machine would make calls late.
func (p *Player) expect(deadline time.Duration) {
	if p.client.Pace() == 1 && (p.deadline == 0 || deadline < p.deadline) {
		p.deadline = deadline
	}
}

// Goroutine is the number of the goroutine among those of its client, from 0.
func (p *Player) Goroutine() int { return p.client.Number() }

// Clock is the time of the clock after d of virtual time.
func (p *Player) Clock(d time.Duration) time.Time {
	return time.Now().Add(d / time.Duration(p.client.Pace()))
}

// VirtualTime is the virtual time, since the World began, at which the clock shows t.
func (p *Player) VirtualTime(t time.Time) time.Duration { return p.client.At(t) }

// Sometimes notes that a goal was reached: a rare event that some run must reach for the test to
// mean anything. The goal is one of [Workload.Sometimes].
// After the end of the World goals do not count.
func (p *Player) Sometimes(goal string) {
	if p.ctx.Err() == nil {
		p.reached = append(p.reached, goal)
	}
}

// Optional notes that the object has an optional method, and whether the script calls it now. A
// hunt says which it has never called.
func (p *Player) Optional(method string, called bool) {
	if p.optional == nil {
		p.optional = map[string]bool{}
	}
	p.optional[method] = p.optional[method] || called
}

// Shared notes that the object is made for several goroutines of the client; see [Outcome.Shared].
func (p *Player) Shared() { p.shared.Store(true) }

// Call is an operation under way; it ends with the first of OK, Unknown and
// Failed.
type Call struct {
	p    *Player
	kind string
	rec  *linearizability.Call
}

// Begin records that the client calls an operation; package linearizability lists the kinds.
// Several goroutines begin one after the other, so that they do not race for the memory of the
// object.
func (p *Player) Begin(kind, input string) Call {
	sim.AwaitTurn(kind)
	p.text = "calls " + kind
	if input != "" {
		p.text += " " + input
	}
	p.calling = true
	return Call{p, kind, p.calls.Call(p.client.Of(), kind, input)}
}

// ends notes that the call has returned.
func (c Call) ends() {
	if c.p.deadline != 0 {
		c.rec.Deadline(c.p.deadline)
	}
	c.p.calling, c.p.deadline = false, 0
}

// OK records a result. Without a session in the result it takes the session that the client has
// now.
func (c Call) OK(r linearizability.Result) {
	c.p.text = c.kind + " returns" + resultText(r)
	c.p.token = cmp.Or(r.Token, c.p.token)
	c.ends()
	c.rec.OK(c.inSession(r))
}

// Unknown records an error after which the operation may have taken effect.
func (c Call) Unknown(r linearizability.Result, err error) {
	c.p.text = fmt.Sprintf("%s fails: %v", c.kind, err)
	c.ends()
	c.rec.Unknown(c.inSession(r), err)
}

// Failed records an error that promises that the operation did not take effect and never will.
func (c Call) Failed(err error) {
	c.p.text = fmt.Sprintf("%s fails: %v", c.kind, err)
	c.ends()
	c.rec.Failed(err)
}

func (c Call) inSession(r linearizability.Result) linearizability.Result {
	if r.Session != 0 {
		return r
	}
	if named := c.p.session.Load(); named != nil {
		r.Session = (*named)()
	} else {
		r.Session = c.p.client.Session()
	}
	return r
}

func resultText(r linearizability.Result) string {
	switch {
	case r.Empty:
		return ": nothing there"
	case r.Output != "":
		return " " + r.Output
	case r.Token != 0:
		return fmt.Sprintf(", token %d", r.Token)
	}
	return ""
}

// Do is one operation from its call to its return: it records a result with OK and an error with
// Unknown. Use Begin for an operation whose errors promise more.
func (p *Player) Do(kind, input string,
	do func(context.Context) (linearizability.Result, error)) error {
	c := p.Begin(kind, input)
	r, err := do(p.ctx)
	if err != nil {
		c.Unknown(r, err)
		return err
	}
	c.OK(r)
	return nil
}
