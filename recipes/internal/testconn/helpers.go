package testconn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Alone runs a test in a bubble, with one connection.
func Alone(t *testing.T, test func(t *testing.T, s *Server, c *Conn)) {
	t.Helper()
	InBubble(t, func(t *testing.T, s *Server) { test(t, s, s.Connect()) })
}

// MustDo reports an error. It may be called from any goroutine.
func MustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Closer ends a recipe, or a part of one.
type Closer interface{ Close(context.Context) error }

// MustClose closes recipes, and reports errors as MustDo does.
func MustClose(t *testing.T, recipes ...Closer) {
	t.Helper()
	for _, r := range recipes {
		MustDo(t, r.Close(t.Context()))
	}
}

// Within returns a context that ends after d.
func Within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// LetSettle waits until nothing is under way.
func LetSettle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// Done returns a context that has ended.
func Done(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// ErrOf is the error of a call with a result.
func ErrOf[T any](_ T, err error) error { return err }
