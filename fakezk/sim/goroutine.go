package sim

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// A Goroutine is one of several goroutines of a client, which share its connection and session.
// Each run of a seed is the same:
//
//   - The lines of each have their own place in the trace.
//   - Each draws from its own crypto/rand, and so do the goroutines that it starts.
//   - No two wake from a sleep together, and each may wait for its turn before a
//     request ([AwaitTurn]) and pause after it ([Linger]).
//
// The code under test must order the rest: goroutines that one event wakes take their next step
// at the same instant, and must not race for anything in memory.
type Goroutine struct {
	*Client
	number int // from 0, the client's script itself
}

// MaxGoroutines is the greatest number of goroutines of a client.
const MaxGoroutines = 9

// Goroutines runs script in number goroutines at the same time, at most [MaxGoroutines], and
// returns when all have ended. The first of them is the calling goroutine; number 1 only calls
// script. Call it from the client's script only, once at a time.
func (c *Client) Goroutines(number int, script func(g *Goroutine)) {
	// This is a channel: the race detector does not see that what comes before the Wait of a
	// sync.WaitGroup comes before a synctest.Wait.
	number = min(number, MaxGoroutines)
	ended := make(chan struct{}, MaxGoroutines) // nobody waits to say so
	for n := 1; n < number; n++ {
		g := c.Goroutine(n)
		go func() {
			defer func() { ended <- struct{}{} }()
			g.play(func() {
				defer bubble.Register(g.Name(), g.Client)()
				script(g)
			})
		}()
	}
	defer func() {
		for n := 1; n < number; n++ {
			<-ended
		}
	}()
	if number > 1 {
		defer bubble.Register(c.name, c)()
	}
	script(c.Goroutine(0))
}

// Goroutine returns the client's goroutine with this number, for code that already runs in it.
// Number 0 is the client's script itself.
func (c *Client) Goroutine(number int) *Goroutine { return &Goroutine{c, number} }

// Number is the goroutine's place among the client's, from 0.
func (g *Goroutine) Number() int { return g.number }

// Name is the client's name. The name of another goroutine ends with a dot and its place, from 2:
// a.2, a.3.
func (g *Goroutine) Name() string {
	if g.number == 0 {
		return g.name
	}
	return fmt.Sprintf("%s.%d", g.name, g.number+1)
}

// Note is [Client.Note] for this goroutine.
func (g *Goroutine) Note(format string, args ...any) trace.Moment {
	return g.note(g.Name(), g.source(sourceScript), format, args...)
}

// NoteAside is Note for a goroutine that this one has started.
func (g *Goroutine) NoteAside(format string, args ...any) trace.Moment {
	return g.note(g.Name(), g.source(sourceAside), format, args...)
}

// source is the place of the goroutine's lines among its client's, after those of the goroutines
// before it.
func (g *Goroutine) source(of int) int { return of + g.number*(sourcesPerGoroutine-sourceScript) }

// Sleep is [Client.Sleep], but goroutines that sleep to the same instant wake one after the other,
// each after the one before it has come to rest.
func (g *Goroutine) Sleep(ctx context.Context, d time.Duration) error {
	return g.sleep(ctx, g.Name(), d)
}

// AwaitTurn waits for the turn of the calling goroutine: a [Goroutine], or one that it has started.
// The World gives one turn at a time, in the order of the calls. It gives the next one when
// everything that follows from the last one is done. Calls of the same instant are ordered by
// client and goroutine. So goroutines that call AwaitTurn before each request never send two
// requests at the same time.
//
// The argument names the request. It orders the goroutines that one Goroutine has just started;
// those with the same argument have one turn together. A turn takes some nanoseconds of virtual
// time. Outside of a World AwaitTurn does nothing.
func AwaitTurn(what string) {
	name, owner, ok := bubble.Registered()
	if !ok {
		return
	}
	c := owner.(*Client)
	if c.sleep(c.inbox.ctx, name+" "+what, time.Nanosecond) == nil {
		bubble.Introduce()
	}
}

// Linger pauses the goroutine at random, as a scheduler can: one call in four waits for up to 8 ms
// of virtual time, the others not at all. After a request it lets other clients overtake a
// goroutine that already has its reply. Outside of a World it does nothing.
func Linger() {
	draw, name, owner, ok := bubble.Roll()
	if !ok || draw%4 != 0 {
		return
	}
	c := owner.(*Client)
	c.sleep(c.inbox.ctx, name, time.Duration(draw>>2%8000)*time.Microsecond)
}

// play runs the script of a goroutine. It notes a panic of the script, and an end without a return.
func (g *Goroutine) play(script func()) {
	defer g.begin()()
	returned := false
	defer func() {
		if r := recover(); r != nil {
			g.panicked(r)
		} else if !returned {
			marks.Hit("script without a return")
			g.panicked(tracetext.Exited)
		}
	}()
	script()
	returned = true
}

// panicked notes that the goroutine has panicked.
func (g *Goroutine) panicked(why any) {
	if g.dead.Load() {
		return
	}
	g.Note("panics: %v", why)
	g.inbox.journal.Panic(
		fmt.Sprintf("client %s: panic: %v\n%s", g.Name(), why, debug.Stack()))
}
