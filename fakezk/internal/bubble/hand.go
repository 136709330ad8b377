package bubble

import (
	"bytes"
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"unsafe"
)

// What several goroutines do at one instant of virtual time has no order but the
// scheduler's. A hand is a goroutine that is told from others, with those that it
// starts, so that each of them can be given draws of its own, and a turn.

// hand is a hand, or one of the goroutines that it has started.
type hand struct {
	name    string
	owner   any
	started int               // goroutines that were introduced so far
	gen     *mathrand.ChaCha8 // for crypto/rand
	dice    *mathrand.ChaCha8
}

func (s *source) newHand(name string, owner any) *hand {
	return &hand{name: name, owner: owner, gen: generator(s.seed, "h/"+name), dice: generator(s.seed, "d/"+name)}
}

// child is the next goroutine that h has started.
func (h *hand) child(s *source) *hand {
	h.started++
	return s.newHand(fmt.Sprintf("%s/%d", h.name, h.started), h.owner)
}

// activeHands counts the hands of all bubbles that have not ended, also those that
// were released: the goroutines that they have started go on.
var activeHands atomic.Int64

// BeHand makes the calling goroutine a hand of a name, which no other has, and an
// owner, whom [Hand] tells. It and those that it starts from now on get draws of
// their own. These depend on the bubble's seed and on the name, but not on when
// others draw. It returns the function that ends that for the calling goroutine; those
// that it has started stay what they are.
// Outside of a bubble started by Run it does nothing.
func BeHand(name string, owner any) (release func()) {
	s := ownSource()
	if s == nil {
		return func() {}
	}
	id := Goroutine()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark(id, s.newHand(name, owner))
	s.began++
	activeHands.Add(1)
	return func() {
		pprof.SetGoroutineLabels(context.Background())
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hands, id)
	}
}

// Hand tells the name of the calling goroutine and its owner; false if it is no
// hand and was not started by one. Each has a name of its own but for newcomers:
// those that were neither introduced nor have drawn anything. They have a slash and
// before it the name of who has started them, or of who has started that one, if it
// has none of its own, and so on.
func Hand() (name string, owner any, ok bool) {
	s := sourceOfHands()
	if s == nil {
		return "", nil, false
	}
	id := Goroutine()
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hands[id]; h != nil {
		return h.name, h.owner, true
	}
	if h := s.families[labels()]; h != nil {
		return h.name + "/", h.owner, true
	}
	return "", nil, false
}

// Introduce gives the calling goroutine a name of its own, if it is a newcomer. The
// name depends on how many newcomers of the same name were introduced before:
// of several that begin together, the caller must decide the order.
func Introduce() {
	if s := sourceOfHands(); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hand()
	}
}

// Roll returns a draw that is the calling goroutine's own, and what [Hand] would, once
// a newcomer is introduced; false if it is no hand and was not started by one.
func Roll() (draw uint64, name string, owner any, ok bool) {
	s := sourceOfHands()
	if s == nil {
		return 0, "", nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hand()
	if h == nil {
		return 0, "", nil, false
	}
	return h.dice.Uint64(), h.name, h.owner, true
}

// sourceOfHands is ownSource, or nil if there are no hands anywhere.
func sourceOfHands() *source {
	if activeHands.Load() == 0 {
		return nil
	}
	return ownSource()
}

// hand is the calling goroutine's, nil if it has none. A newcomer is introduced, so
// that the goroutines that it starts are known, too. The caller has locked mu.
func (s *source) hand() *hand {
	if len(s.families) == 0 {
		return nil
	}
	id := Goroutine()
	if h := s.hands[id]; h != nil {
		return h
	}
	parent := s.families[labels()]
	if parent == nil {
		return nil
	}
	h := parent.child(s)
	s.mark(id, h)
	return h
}

// mark makes h known as that of the calling goroutine. What is started from now on,
// by it, by those, and so on, inherits its labels, by which it is told whose it is;
// "created by" at the end of a stack trace tells of the nearest only, which nobody may
// know.
func (s *source) mark(id int64, h *hand) {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("hand", h.name)))
	s.hands[id], s.families[labels()] = h, h
}

// labels identifies the labels of the calling goroutine. The runtime keeps this
// function for those outside that link to it (go.dev/issue/67401).
//
//go:linkname labels runtime/pprof.runtime_getProfLabel
func labels() unsafe.Pointer

// Goroutine is the number of the calling goroutine, with which its stack trace begins.
func Goroutine() int64 {
	var buf [64]byte
	return leadingNumber(bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine ")))
}
