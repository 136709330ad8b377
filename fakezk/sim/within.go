package sim

import (
	"context"
	"sync"
	"time"
)

// Within returns a context that is done after d of virtual time, as context.WithTimeout does. Under
// a Schedule of Turns the end of a context of up to [Lateness] is a thing that waits for its turn:
// the context may be done before a message arrives, and after it. No time passes by it, so the
// clock is behind the deadline then.
func (g *Goroutine) Within(ctx context.Context, d time.Duration) (context.Context,
	context.CancelFunc) {
	if g.inbox.world.Schedule.Kind != Turns || d > Lateness {
		return context.WithTimeout(ctx, d)
	}
	c := &timed{Context: ctx, deadline: time.Now().Add(d), done: make(chan struct{}),
		follow: map[int]func(){}}
	forget := context.AfterFunc(ctx, func() { c.end(ctx.Err()) })
	z := sleeper{process: g.process, name: g.Name() + " context", at: g.Now() + max(d, 0), ends: c}
	g.inbox.add(func(m *mail) { m.sleepers = append(m.sleepers, z) })
	return c, func() {
		forget()
		c.end(context.Canceled)
	}
}

// timed is a context whose time the World ends.
type timed struct {
	context.Context
	deadline time.Time
	done     chan struct{}

	mu     sync.Mutex
	err    error
	follow map[int]func() // what follows the end, by its place
	placed int
}

func (c *timed) Deadline() (time.Time, bool) {
	if of, ok := c.Context.Deadline(); ok && of.Before(c.deadline) {
		return of, true
	}
	return c.deadline, true
}

func (c *timed) Done() <-chan struct{} { return c.done }

func (c *timed) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// AfterFunc is called by package context: the contexts made of this one end with it.
func (c *timed) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	place := c.placed
	c.placed++
	c.follow[place] = f
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waits := c.follow[place]
		delete(c.follow, place)
		return waits
	}
}

// end ends the context, and those made of it in the order in which they were made.
func (c *timed) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	close(c.done)
	follow := c.follow
	c.follow = nil
	c.mu.Unlock()
	for place := range c.placed {
		if f := follow[place]; f != nil {
			f()
		}
	}
}
