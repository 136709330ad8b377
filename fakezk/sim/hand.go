package sim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// A Hand is one of several goroutines of a client that do things at the same
// time: on one connection, with one session, and, it may be, on one object. What
// several hands do is the same in each run of a seed, where goroutines that the
// World knows nothing of could race:
//
//   - Each hand's lines have a place of their own in the trace.
//   - Each draws from its own crypto/rand, as do the goroutines that it starts.
//   - No two wake from a sleep together, and each may wait for its turn before a
//     request ([AwaitTurn]) and pause after it ([Dawdle]).
//
// What remains to the code under test: hands that one event wakes, which all take
// their next step at the same instant, must not race for something in memory.
type Hand struct {
	*Client
	number int // from 0, the client's script itself
}

// MaxHands is how many hands a client may have.
const MaxHands = 9

// Hands runs script once for each of so many hands at the same time, at most
// [MaxHands], and returns when all have ended. The first hand is the goroutine that
// called, and an only one differs in nothing from the client. Call it from the
// client's script only, once at a time.
func (c *Client) Hands(number int, script func(h *Hand)) {
	var rest sync.WaitGroup
	for n := 1; n < min(number, MaxHands); n++ {
		h := c.Hand(n)
		rest.Go(func() {
			h.play(func() {
				defer bubble.BeHand(h.Name(), h.Client)()
				script(h)
			})
		})
	}
	defer rest.Wait()
	if number > 1 {
		defer bubble.BeHand(c.name, c)()
	}
	script(c.Hand(0))
}

// Hand is the client's hand of a number from 0, for what runs in its goroutine
// already; 0 is the client's script itself.
func (c *Client) Hand(number int) *Hand { return &Hand{c, number} }

// Number is the hand's place among the client's, from 0.
func (h *Hand) Number() int { return h.number }

// Name is the client's name, and for all hands but the first a dot and their
// place, from 2: a, a.2, a.3.
func (h *Hand) Name() string {
	if h.number == 0 {
		return h.name
	}
	return fmt.Sprintf("%s.%d", h.name, h.number+1)
}

// Note is [Client.Note] for this hand, and NoteAside for a second goroutine of it.
func (h *Hand) Note(format string, args ...any) trace.Moment {
	return h.note(h.Name(), h.source(sourceScript), format, args...)
}

// NoteAside is Note for a second goroutine of the hand.
func (h *Hand) NoteAside(format string, args ...any) trace.Moment {
	return h.note(h.Name(), h.source(sourceAside), format, args...)
}

// source is the place of the hand's lines among its client's: after those of the
// hands before it.
func (h *Hand) source(of int) int { return of + h.number*(sourcesOfHand-sourceScript) }

// Sleep is [Client.Sleep], but hands that sleep to the same instant wake one after
// the other, each once the one before it has come to rest.
func (h *Hand) Sleep(ctx context.Context,
	d time.Duration) error {
	return h.sleep(ctx, h.Name(), d)
}

// AwaitTurn waits for the turn of the calling goroutine: a hand, or a goroutine that a
// hand has started. The World gives one turn at a time, in the order of the calls, and
// the next one only when everything that the last one set off is at rest. Calls of the
// same instant are ordered by client and hand. So goroutines that call AwaitTurn before
// each request never send two requests at the same time.
//
// The word says what will be sent. It orders the goroutines that one hand has just
// started; those with the same word have one turn together. A turn takes some
// nanoseconds of virtual time. Outside of a World AwaitTurn does nothing.
func AwaitTurn(what string) {
	name, owner, ok := bubble.Hand()
	if !ok {
		return
	}
	c := owner.(*Client)
	if c.sleep(c.sim.ctx, name+" "+what, time.Nanosecond) == nil {
		bubble.Introduce()
	}
}

// Dawdle waits as a goroutine that the scheduler has put aside: in three calls of four
// not at all, else for up to 8 ms of virtual time, drawn by the hand. After a request
// it lets other clients overtake a hand that has its reply already. Outside of a World
// it does nothing.
func Dawdle() {
	draw, name, owner, ok := bubble.Roll()
	if !ok || draw%4 != 0 {
		return
	}
	c := owner.(*Client)
	c.sleep(c.sim.ctx, name, time.Duration(draw>>2%8000)*time.Microsecond)
}

// play runs a hand's script. It notes its panic, and whether it has ended its
// goroutine instead of returning.
func (h *Hand) play(script func()) {
	defer h.begin()()
	returned := false
	defer func() {
		if r := recover(); r != nil {
			h.sim.panicked(h, r)
		} else if !returned {
			h.sim.panicked(h, tracetext.Exited)
		}
	}()
	script()
	returned = true
}
