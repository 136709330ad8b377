package bubble

import (
	"bytes"
	"fmt"
	mathrand "math/rand/v2"
	"runtime"
	"sync/atomic"
)

// What several goroutines do at one instant of virtual time has no order but the
// scheduler's. A hand is a goroutine that is told from others, with those that it
// starts, so that each of them can be given draws of its own, and instants.

// hand is a hand, or one of the goroutines that it has started.
type hand struct {
	name    string
	number  int
	started int               // goroutines that were known so far
	gen     *mathrand.ChaCha8 // for crypto/rand
	dice    *mathrand.ChaCha8
}

func (s *source) newHand(name string, number int) *hand {
	return &hand{name: name, number: number, gen: generator(s.seed, "h/"+name), dice: generator(s.seed, "d/"+name)}
}

const (
	handsApart   = 10 // numbers of hands are smaller
	startedApart = 16 // more goroutines of one hand are not under way at a time
)

// child is the next goroutine that h has started. Its number differs from those of
// all hands and of the goroutines that were started before.
func (h *hand) child(s *source) *hand {
	h.started++
	return s.newHand(fmt.Sprintf("%s/%d", h.name, h.started), h.number%handsApart+handsApart*(h.started%startedApart))
}

var activeHands atomic.Int64

// BeHand makes the calling goroutine a hand with a number below 10. It and those
// that it starts from now on get draws of their own. These depend on the bubble's
// seed and on the name, but not on when others draw. It returns the function that
// ends that for the calling goroutine. Outside of a bubble started by Run it does
// nothing.
func BeHand(name string, number int) (release func()) {
	s := ownSource()
	if s == nil {
		return func() {}
	}
	id, _ := goroutines()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hands[id] = s.newHand(name, number)
	activeHands.Add(1)
	return func() {
		activeHands.Add(-1)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hands, id)
	}
}

// Hand returns a number for the calling goroutine that no other has which is a hand
// of the client, or was started by one, and a draw that is its own; false if it is
// no such goroutine.
func Hand() (number int, draw uint64, ok bool) {
	s := sourceOfHands()
	if s == nil {
		return 0, 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hand()
	if h == nil {
		return 0, 0, false
	}
	return h.number, h.dice.Uint64(), true
}

// Newcomer reports whether a hand has started the calling goroutine, which nobody
// has asked about yet. Its number and its draws depend on how many have been asked
// about before: of several that begin together, the caller must decide the order.
func Newcomer() bool {
	s := sourceOfHands()
	if s == nil {
		return false
	}
	id, creator := goroutines()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hands[id] == nil && s.hands[creator] != nil
}

// sourceOfHands is ownSource, or nil if there are no hands anywhere.
func sourceOfHands() *source {
	if activeHands.Load() == 0 {
		return nil
	}
	return ownSource()
}

// hand is the calling goroutine's, nil if it has none. Whoever asks is remembered,
// so that the goroutines that it starts are known, too. The caller has locked mu.
func (s *source) hand() *hand {
	if len(s.hands) == 0 {
		return nil
	}
	id, creator := goroutines()
	if h := s.hands[id]; h != nil {
		return h
	}
	parent := s.hands[creator]
	if parent == nil {
		return nil
	}
	h := parent.child(s)
	s.hands[id] = h
	return h
}

// Goroutine is the number of the calling goroutine, by which stack traces call it.
func Goroutine() int64 {
	own, _ := goroutines()
	return own
}

// goroutines are the numbers of the calling goroutine and of the one that started
// it, 0 if that is not known. The runtime tells them at the beginning of a stack
// trace and, after the last function, at its end:
//
//	created by main.main in goroutine 1
func goroutines() (own, creator int64) {
	buf := make([]byte, 4<<10)
	n := runtime.Stack(buf, false)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, false)
	}
	buf = buf[:n]
	own = leadingNumber(bytes.TrimPrefix(buf, []byte("goroutine ")))
	if _, rest, found := cutLast(buf, " in goroutine "); found {
		creator = leadingNumber(rest)
	}
	return own, creator
}

func cutLast(text []byte, sep string) (before, after []byte, found bool) {
	i := bytes.LastIndex(text, []byte(sep))
	if i < 0 {
		return text, nil, false
	}
	return text[:i], text[i+len(sep):], true
}
