package scenario

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/zksim/zksim/linearizability"
)

// Player is one client in the script of a workload. A Player belongs to the goroutine of its
// script. Each of several goroutines of a client has a Player, with another name, other draws and a
// separate record; see [Shared]. Its methods are those of its parts, and habits of clients: rounds,
// attempts, contexts and holds.
type Player struct {
	Client
	Draws
	Record

	others   []*Player // those of the client's further goroutines
	before   *Player   // in the process of the client that has died; nil in the first one
	resume   []int     // the rounds in which its loops over rounds were interrupted
	loops    []int     // the present round of each loop over rounds
	careless bool      // the script is
	faults   int       // of the run
	held     bool      // for minutes, once
	rested   bool      // the same
	open     bool      // the script has left an object that has a Close
}

func newPlayer(ctx context.Context, c client, index int, seed uint64) *Player {
	p := &Player{
		Client: Client{ctx: ctx, life: ctx, client: c, index: index},
		Draws:  Draws{seed: seed, name: c.Name(), of: [2]uint64{uint64(index), uint64(c.Number())}},
	}
	p.Record.start(c)
	return p
}

// play runs the script of a client.
func (p *Player) play(s Scenario) {
	life, end := context.WithCancel(p.ctx)
	defer end()
	defer p.stopHeeding()
	p.life = life
	s.Workload.Play(p, s.Script)
}

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

// Within returns a context that is done after d of virtual time. Use it and not
// context.WithTimeout, which counts time of the clock: in a real world virtual time passes faster.
func (p *Player) Within(
	ctx context.Context, d time.Duration,
) (context.Context, context.CancelFunc) {
	ctx, cancel := p.client.Within(ctx, d)
	p.expect(p.client.Now()+d, ctx)
	return ctx, func() {
		cancel()
		if !p.calling {
			p.deadline, p.limit = 0, nil
		}
	}
}

// Sometimes notes that a goal was reached: a rare event that some run must reach for the test to
// mean anything. The goal is one of [Workload.Sometimes]. After the end of the World goals do not
// count.
func (p *Player) Sometimes(goal string) {
	if p.ctx.Err() == nil {
		p.reached = append(p.reached, goal)
	}
}

// Do is one operation from its call to its return: it records a result with OK and an error with
// Unknown. Use Begin for an operation whose errors promise more.
func (p *Player) Do(
	kind, input string, do func(context.Context) (linearizability.Result, error),
) error {
	c := p.Begin(kind, input)
	r, err := do(p.ctx)
	if err != nil {
		c.Unknown(r, err)
		return err
	}
	c.OK(r)
	return nil
}

// Call is Do for an operation without a result.
func (p *Player) Call(kind, input string, do func(context.Context) error) error {
	c := p.Begin(kind, input)
	if err := do(p.ctx); err != nil {
		c.Unknown(linearizability.Result{}, err)
		return err
	}
	c.OK(linearizability.Result{})
	return nil
}
