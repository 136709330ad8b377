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

// Goroutines that act at one instant of virtual time are ordered by the scheduler only.
// A hand is a registered goroutine with a name. It and the goroutines that it starts can
// be distinguished, so each can have its own draws and its turn.

// hand is a registered goroutine, or one that it has started.
type hand struct {
	name     string
	owner    any
	children int               // goroutines started and introduced so far
	gen      *mathrand.ChaCha8 // for crypto/rand
	rolls    *mathrand.ChaCha8 // for Roll
}

func (s *source) newHand(name string, owner any) *hand {
	return &hand{
		name: name, owner: owner,
		gen: generator(s.seed, "h/"+name), rolls: generator(s.seed, "d/"+name),
	}
}

// newChild returns a hand for the next goroutine that h has started.
func (h *hand) newChild(s *source) *hand {
	h.children++
	return s.newHand(fmt.Sprintf("%s/%d", h.name, h.children), h.owner)
}

// activeHands counts the hands of all running bubbles, including released ones, as the
// goroutines that they have started may still run.
var activeHands atomic.Int64

// BeHand registers the calling goroutine as a hand, with a name that no other has and an
// owner for [Hand]. The goroutine, and each that it starts from now on, gets draws that
// depend on the bubble's seed and on the name only, not on the draws of others. release
// ends that for the calling goroutine; goroutines that it has started keep their names
// and draws. Outside of a bubble of Run, BeHand does nothing.
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

// Hand returns the name and the owner of the calling goroutine. ok is false if it is not
// a hand and was not started by one. A goroutine that a hand "a" has started gets its own
// name, such as "a/1", when it calls [Introduce] or draws for the first time. Until then
// it is called after its nearest named ancestor, with a slash: "a/".
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

// Introduce gives the calling goroutine its own name if it was started by a hand and has
// none: the name of [Hand] and a number, counted per name. If several goroutines begin
// together, the caller must order their calls of Introduce.
func Introduce() {
	if s := sourceOfHands(); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hand()
	}
}

// Roll returns the calling goroutine's next draw, and its name and owner like [Hand]
// after [Introduce]. ok is false if the goroutine is not a hand and was not started by
// one.
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
	return h.rolls.Uint64(), h.name, h.owner, true
}

// sourceOfHands returns ownSource, or nil at once if no bubble has a hand.
func sourceOfHands() *source {
	if activeHands.Load() == 0 {
		return nil
	}
	return ownSource()
}

// hand returns the hand of the calling goroutine, nil if it is not a hand and was not
// started by one. It registers a goroutine that was, so that the goroutines that this
// one starts are known, too. The caller holds mu.
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
	h := parent.newChild(s)
	s.mark(id, h)
	return h
}

// mark registers h as the hand of the calling goroutine. Every descendant that starts
// from now on inherits its profiler labels, which identify h. ("created by" in a stack
// trace has only the parent, which may be unknown.)
func (s *source) mark(id int64, h *hand) {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("hand", h.name)))
	s.hands[id], s.families[labels()] = h, h
	s.inherit()
}

// labels returns the address of the calling goroutine's profiler labels. The runtime
// keeps this function for packages that link to it (go.dev/issue/67401).
//
//go:linkname labels runtime/pprof.runtime_getProfLabel
func labels() unsafe.Pointer

// Goroutine returns the number of the calling goroutine, as in its stack trace.
func Goroutine() int64 {
	var buf [64]byte
	return leadingNumber(bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine ")))
}
