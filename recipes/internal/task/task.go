package task

import (
	"context"
	"errors"
	"sync"
	"time"
)

// grace limits the time for which a caller waits for clean-up after its context is done.
const grace = 100 * time.Millisecond

// Task is an operation that runs to its end, clean-up included, even if its caller leaves before.
// Either the caller leaves first, or the result is settled first. Caller and operation agree on
// that order.
type Task[T any] struct {
	known chan struct{} // closed when the result is settled
	Done  chan struct{} // closed when nothing is left to do

	mu      sync.Mutex
	left    bool
	settled bool
	value   T
	err     error
}

// Start runs work in a goroutine. The result is the return value of work, unless work has settled a
// value before.
func Start[T any](work func(t *Task[T]) (T, error)) *Task[T] {
	t := &Task[T]{known: make(chan struct{}), Done: make(chan struct{})}
	go func() {
		defer close(t.Done)
		t.finish(work(t))
	}()
	return t
}

// Settle hands value to the caller before the clean-up. It returns false if the caller has left:
// then the value has no owner, and the work must undo it.
func (t *Task[T]) Settle(value T) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left {
		return false
	}
	t.settled, t.value = true, value
	close(t.known)
	return true
}

// Keep settles value and calls store, both under mu. If the caller has left or the recipe was
// closed, it returns false, and the work must undo what it has made.
func Keep[T any](g *Group, mu sync.Locker, t *Task[T], value T, store func()) bool {
	mu.Lock()
	defer mu.Unlock()
	if g.Closed() || !t.Settle(value) {
		return false
	}
	store()
	return true
}

// finish records the result of work that has settled nothing.
func (t *Task[T]) finish(value T, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.settled {
		return
	}
	t.settled, t.value, t.err = true, value, err
	close(t.known)
}

// leave marks the caller as gone unless the result is settled.
func (t *Task[T]) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = !t.settled
}

// result returns the result if it is settled.
func (t *Task[T]) result() (value T, known bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.settled {
		return value, false, nil
	}
	return t.value, true, t.err
}

// Await waits for the result or the end of ctx, and then up to grace for the clean-up, so that the
// operation is usually over when Await returns. If known is false, the work goes on in the
// background, and the error is the cause of ctx's end.
func (t *Task[T]) Await(ctx context.Context) (value T, known bool, err error) {
	select {
	case <-t.known:
	case <-ctx.Done():
		t.leave()
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-t.Done:
	case <-timer.C:
	}
	value, known, err = t.result()
	if !known {
		err = context.Cause(ctx)
	}
	return value, known, err
}

// awaitDone waits for done or the end of ctx, and after the end of ctx up to grace for done.
func awaitDone(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return context.Cause(ctx)
	}
}

// InParallel calls do for all things at the same time, so that their pauses do not add up, and
// returns the joined errors.
func InParallel[T any](things []T, do func(T) error) error {
	errs := make([]error, len(things))
	var all sync.WaitGroup
	for i, thing := range things {
		all.Add(1)
		go func() { // all.Go asks for Go 1.25
			defer all.Done()
			errs[i] = do(thing)
		}()
	}
	all.Wait()
	return errors.Join(errs...)
}
