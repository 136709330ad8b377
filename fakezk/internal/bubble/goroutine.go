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

	"github.com/petermattis/goid"
)

// Goroutines that act at one instant of virtual time are ordered by the scheduler only. A
// registered goroutine has a name. It and the goroutines that it starts can be distinguished, so
// each can have its own draws and its turn.

// goroutine is a registered goroutine, or one that it has started.
type goroutine struct {
	name     string
	owner    any
	children int               // goroutines started and introduced so far
	gen      *mathrand.ChaCha8 // for crypto/rand
	rolls    *mathrand.ChaCha8 // for Roll
}

func (s *source) newGoroutine(name string, owner any) *goroutine {
	return &goroutine{
		name: name, owner: owner,
		gen: generator(s.seed, "h/"+name), rolls: generator(s.seed, "d/"+name),
	}
}

// newChild returns the next goroutine that g has started.
func (g *goroutine) newChild(s *source) *goroutine {
	g.children++
	return s.newGoroutine(fmt.Sprintf("%s/%d", g.name, g.children), g.owner)
}

// activeGoroutines counts the registered goroutines of all running bubbles, including released
// ones, as the goroutines that they have started may still run.
var activeGoroutines atomic.Int64

// Register registers the calling goroutine, with a unique name and an owner for [Registered]. The
// goroutine, and each that it starts from now on, gets draws that depend on the bubble's seed and
// on the name only, not on the draws of others. release ends that for the calling goroutine;
// goroutines that it has started keep their names and draws. Outside of a bubble of Run, Register
// does nothing.
func Register(name string, owner any) (release func()) {
	s := ownSource()
	if s == nil {
		return func() {}
	}
	id := Goroutine()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark(id, s.newGoroutine(name, owner))
	s.began++
	activeGoroutines.Add(1)
	return func() {
		pprof.SetGoroutineLabels(s.labels)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.goroutines, id)
	}
}

// Registered returns the name and the owner of the calling goroutine. ok is false if neither it nor
// an ancestor is registered. A goroutine that "a" has started gets its own name, such as "a/1",
// when it calls [Introduce] or draws for the first time. Until then it is called after its nearest
// named ancestor, with a slash: "a/".
func Registered() (name string, owner any, ok bool) {
	s := sourceOfGoroutines()
	if s == nil {
		return "", nil, false
	}
	id := Goroutine()
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.goroutines[id]; g != nil {
		return g.name, g.owner, true
	}
	if g := s.byLabels[labels()]; g != nil {
		return g.name + "/", g.owner, true
	}
	return "", nil, false
}

// Introduce gives the calling goroutine its own name if an ancestor is registered and it has none:
// the name of [Registered] and a number, counted per name. If several goroutines begin together,
// the caller must order their calls of Introduce.
func Introduce() {
	if s := sourceOfGoroutines(); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.current()
	}
}

// Roll returns the calling goroutine's next draw, and its name and owner like [Registered] after
// [Introduce]. ok is false if neither the goroutine nor an ancestor is registered.
func Roll() (draw uint64, name string, owner any, ok bool) {
	s := sourceOfGoroutines()
	if s == nil {
		return 0, "", nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.current()
	if g == nil {
		return 0, "", nil, false
	}
	return g.rolls.Uint64(), g.name, g.owner, true
}

// sourceOfGoroutines returns ownSource, or nil at once if no bubble has a registered goroutine.
func sourceOfGoroutines() *source {
	if activeGoroutines.Load() == 0 {
		return nil
	}
	return ownSource()
}

// current returns the calling goroutine, nil if neither it nor an ancestor is registered. It
// registers a descendant, so that the goroutines that this one starts are known, too. The caller
// holds mu.
func (s *source) current() *goroutine {
	if len(s.byLabels) == 0 {
		return nil
	}
	id := Goroutine()
	if g := s.goroutines[id]; g != nil {
		return g
	}
	parent := s.byLabels[labels()]
	if parent == nil {
		return nil
	}
	g := parent.newChild(s)
	s.mark(id, g)
	return g
}

// mark registers g for the calling goroutine. Every descendant that starts from now on inherits its
// profiler labels, which identify g. ("created by" in a stack trace has only the parent, which may
// be unknown.)
func (s *source) mark(id int64, g *goroutine) {
	pprof.SetGoroutineLabels(
		pprof.WithLabels(context.Background(), pprof.Labels("goroutine", g.name)),
	)
	s.goroutines[id], s.byLabels[labels()] = g, g
	s.inherit()
}

// labels returns the address of the calling goroutine's profiler labels. The runtime
// keeps this function for packages that link to it (go.dev/issue/67401).
//
//go:linkname labels runtime/pprof.runtime_getProfLabel
func labels() unsafe.Pointer

// Goroutine returns the number of the calling goroutine, as in its stack trace.
func Goroutine() int64 {
	if goidKnows {
		return goid.Get()
	}
	return goroutineNumber()
}

// goidKnows says that package goid, which reads the number from the runtime's memory, knows where
// it is in this release of Go. A stack trace takes a hundred times as long.
var goidKnows = func() bool {
	agrees := make(chan bool)
	go func() { agrees <- goid.Get() == goroutineNumber() }()
	return <-agrees && goid.Get() == goroutineNumber()
}()

// goroutineNumber returns the number of the calling goroutine from its stack trace.
func goroutineNumber() int64 {
	var buf [64]byte
	return leadingNumber(bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine ")))
}
