package realworld

import (
	"sync"
	"time"
)

// clock is the virtual time of a run.
type clock struct {
	pace    int // virtual seconds in a real one
	start   time.Time
	stalled time.Duration // the longest time that something was late, in real time
}

// real is how long a virtual duration takes.
func (c *clock) real(virtual time.Duration) time.Duration { return virtual / time.Duration(c.pace) }

// now is the virtual time.
func (c *clock) now() time.Duration { return c.at(time.Now()) }

// at is the virtual time of a moment.
func (c *clock) at(t time.Time) time.Duration { return t.Sub(c.start) * time.Duration(c.pace) }

// stall notes that something took so long, in real time.
func (c *clock) stall(d time.Duration) { c.stalled = max(c.stalled, d) }

// longestStall is virtual time.
func (c *clock) longestStall() time.Duration { return c.stalled * time.Duration(c.pace) }

// watch notes how late timers are, until stop is closed. It locks the mutex of the run.
func (c *clock) watch(mu *sync.Mutex, stop <-chan struct{}) {
	const every = 5 * time.Millisecond
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for last := time.Now(); ; last = time.Now() {
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
		mu.Lock()
		c.stall(time.Since(last) - every)
		mu.Unlock()
	}
}
