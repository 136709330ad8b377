// Package guard ends runs that would not end. It guards against code under test that works without
// end and gets nowhere (runaway.go), against code with which virtual time cannot pass (freeze.go),
// and against runs that are too long (this file). It guards the code under test: the requests,
// messages, lines and goroutines of the harness do not count. Only its steps do, as they fill the
// memory like all others.
package guard

import (
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
)

// maxBytes is the greatest length of all messages of the code under test to the server in a run.
const maxBytes = 256 << 20

// A Guard watches a run. Use New.
type Guard struct {
	moment   func() trace.Moment // of the World's next line
	maxSteps int64
	clients  int

	// For all goroutines.
	bubble  atomic.Pointer[string] // how stack traces name the run's bubble
	steps   atomic.Int64           // progress, for Watch
	lines   atomic.Int64           // of all scripts
	runaway atomic.Pointer[Runaway]
	stopped atomic.Bool

	// For the World's.
	bytes      int64 // of messages to the server, without those of the harness
	outOfSteps bool
	counted    struct { // when goroutines were counted last
		steps int64
		at    time.Duration
	}
}

// New is the guard of a run of so many steps and clients.
func New(moment func() trace.Moment, maxSteps int64, clients int) *Guard {
	return &Guard{moment: moment, maxSteps: maxSteps, clients: clients}
}

// Begin names the run's bubble.
func (g *Guard) Begin(bubble string) { g.bubble.Store(&bubble) }

func (g *Guard) bubbleName() string {
	if name := g.bubble.Load(); name != nil {
		return *name
	}
	return ""
}

// Step counts a step, and Steps returns their number.
func (g *Guard) Step()        { g.steps.Add(1) }
func (g *Guard) Steps() int64 { return g.steps.Load() }

// Stop ends all bounds.
func (g *Guard) Stop() { g.stopped.Store(true) }

// OutOfBounds reports whether the run must end at once.
func (g *Guard) OutOfBounds(now time.Duration) bool {
	if g.stopped.Load() {
		return false
	}
	g.countGoroutines(now)
	if g.runaway.Load() != nil {
		return true
	}
	g.outOfSteps = g.steps.Load() >= g.maxSteps || g.bytes >= maxBytes
	return g.outOfSteps
}

// OutOfSteps reports whether the run was ended for its length.
func (g *Guard) OutOfSteps() bool { return g.outOfSteps }

// HasRoom reports whether the run may make so many steps more.
func (g *Guard) HasRoom(steps int64) bool { return g.steps.Load()+steps < g.maxSteps }

// Runaway is why the run was ended, nil if there is no such reason.
func (g *Guard) Runaway() *Runaway { return g.runaway.Load() }

// endFor ends the run because of a runaway. The first one counts.
func (g *Guard) endFor(r trace.Runaway, since trace.Moment) {
	if !g.stopped.Load() {
		g.runaway.CompareAndSwap(nil, &Runaway{r, since})
	}
}
