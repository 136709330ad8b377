package fakezk

import (
	"sync"
	"sync/atomic"
)

// turns are the bounds of long work. A loop over the nodes or watches that clients have made holds
// the lock of a Server for some thousand steps. Then the others have their turn. Texts and sorted
// lists are made without the lock, of what was collected with it.
//
// One call at a time does long work, so no other long work comes between its turns, but requests of
// clients and short calls do. Work that is shorter than a turn is done as a whole.
type turns struct {
	mu       *sync.Mutex
	one      sync.Mutex   // held in the course of long work, and taken before mu
	stopping atomic.Int32 // calls of Stop and Close that wait for mu: a Load ends early
	stops    int          // calls of Stop and Close that have had mu
	steps    int          // of the turn under way
}

// mostSteps is the number of steps of a turn. A step takes a microsecond or two.
const mostSteps = 4096

// begin begins long work. mu is held from then on, between turns, until end.
func (t *turns) begin() {
	t.one.Lock()
	t.mu.Lock()
	t.steps = 0
}

func (t *turns) end() {
	t.mu.Unlock()
	t.one.Unlock()
}

// step notes steps of the work. After some thousand it lets the others have the lock.
func (t *turns) step(n int) {
	if t.steps += n; t.steps < mostSteps {
		return
	}
	t.steps = 0
	t.mu.Unlock()
	t.mu.Lock()
}

// lockAndInterrupt takes the lock. A Load under way ends early.
func (t *turns) lockAndInterrupt() {
	t.stopping.Add(1)
	t.mu.Lock()
	t.stopping.Add(-1)
	t.stops++
}

// interrupted reports whether a call of Stop or Close waits for the lock.
func (t *turns) interrupted() bool { return t.stopping.Load() > 0 }
