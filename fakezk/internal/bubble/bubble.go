// Package bubble runs a function in a testing/synctest bubble, in a test or
// outside of one, and makes what the bubble draws from crypto/rand repeatable.
//
// testing/synctest wants a *testing.T. A zero T serves when the body never
// touches it and runs in a child goroutine that recovers: everything that can
// go wrong with a bubble (panic, deadlock, goroutines left behind) then comes
// back as a value. That is not documented by the testing package, so it lives
// in this one file and has a test of its own.
package bubble

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
)

// Failure says how a bubble ended when it did not end well.
type Failure struct {
	// Kind is one of "panic", "deadlock", "leak".
	Kind string
	// Message is the panic's value or the runtime's own words.
	Message string
	// Stack is the stack of the panicking goroutine, for "panic".
	Stack string
}

func (f *Failure) Error() string { return fmt.Sprintf("bubble: %s: %s", f.Kind, f.Message) }

// Run calls body in a new bubble whose crypto/rand draws come from seed, waits
// until every goroutine of the bubble has ended, and returns nil, or how it
// failed. Virtual time stops when body returns: a goroutine that still waits
// then, if only for a timer, is a "leak". After a "leak" or "deadlock" the
// goroutines concerned stay behind.
//
// Run must not be called from inside a bubble.
func Run(seed uint64, body func()) *Failure {
	var inner *Failure
	outer := make(chan *Failure, 1)
	go func() {
		defer func() { outer <- classify(recover()) }()
		var t testing.T
		synctest.Test(&t, func(*testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() {
					if r := recover(); r != nil {
						inner = &Failure{Kind: "panic", Message: fmt.Sprint(r), Stack: string(debug.Stack())}
					}
				}()
				defer seedRandom(seed)()
				body()
			}()
			<-done
		})
	}()
	failure := <-outer
	if inner != nil {
		return inner
	}
	return failure
}

// classify turns what synctest.Test panicked with into a Failure.
func classify(r any) *Failure {
	if r == nil {
		return nil
	}
	msg := fmt.Sprint(r)
	switch {
	case strings.Contains(msg, "main bubble goroutine has exited"):
		return &Failure{Kind: "leak", Message: msg}
	case strings.Contains(msg, "deadlock"):
		return &Failure{Kind: "deadlock", Message: msg}
	}
	return &Failure{Kind: "panic", Message: msg}
}
