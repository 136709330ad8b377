// Package bubble runs a function in a testing/synctest bubble, in a test or in any other
// program, and makes the bubble's draws from crypto/rand repeatable.
//
// # Guarantees
//
// A panic, a deadlock and goroutines left behind are returned as a [Failure]. In a bubble
// crypto/rand depends on the seed only; outside it is unchanged. A goroutine that is registered
// with [Register] has draws that do not depend on the order in which goroutines draw.
//
// In a program built by zksim go the runtime runs one goroutine of a bubble at a time, in an order
// of its own, and each draws from a source of its own: see package internal/overlay.
//
// # Limits
//
// testing/synctest needs a *testing.T, and Run passes it a zero T. That works as long as
// the body does not use the T and runs in a child goroutine that recovers. The testing
// package does not document it; TestRunInAProgramThatIsNoTest checks it.
package bubble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// Failure is the reason for which a bubble failed.
type Failure struct {
	// Kind is one of "panic", "deadlock", "leak".
	Kind string
	// Message is the value of the panic or the message of the runtime.
	Message string
	// Stack is the stack of the panicking goroutine, for "panic".
	Stack string
}

func (f *Failure) Error() string { return fmt.Sprintf("bubble: %s: %s", f.Kind, f.Message) }

// Run calls body in a new bubble that draws crypto/rand from seed, waits until every
// goroutine of the bubble has ended, and returns nil or the failure. Virtual time stops
// when body returns: a goroutine that is then blocked, even on a timer, is a "leak".
// After a "leak" or "deadlock" the blocked goroutines stay behind.
//
// Run must not be called from inside a bubble.
func Run(seed uint64, body func()) *Failure {
	beginResolver()
	var inner *Failure
	outer := make(chan *Failure, 1)
	go func() {
		defer func() { outer <- classify(recover()) }()
		defer end()
		var t testing.T
		synctest.Test(&t, func(*testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() {
					if r := recover(); r != nil {
						stack := string(debug.Stack())
						inner = &Failure{Kind: "panic", Message: fmt.Sprint(r), Stack: stack}
					}
				}()
				defer seedRandom(seed)()
				begin(seed)
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

// beginResolver looks a host up outside of all bubbles, once with the resolver of Go and once with
// that of the program, which may be written in C. At the first look-up of each kind package net
// makes a channel. If that happened in a bubble, the first look-up in the next bubble would end the
// process.
var beginResolver = sync.OnceFunc(func() {
	resolver := net.Resolver{PreferGo: true, Dial: refuseToDial}
	_, _ = resolver.LookupHost(context.Background(), "localhost")
	_, _ = net.LookupHost("localhost")
})

func refuseToDial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no server is asked")
}

// classify turns the value of a panic of synctest.Test into a Failure.
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
