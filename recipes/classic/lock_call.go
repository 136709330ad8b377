package classic

import (
	"context"
	"errors"

	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
)

// lockCall is one call of WriteLock.Lock. It lasts until its ownership has ended.
type lockCall struct {
	cancel context.CancelFunc
	queued chan struct{} // closed when the node is in the queue, behind others
	tried  chan struct{} // closed when the call owns the lock or has failed
	err    error         // of a failed call; set before tried is closed

	// Guarded by the mu of the WriteLock:
	id    string
	waits bool       // queued is closed
	held  *hold.Hold // nil: the call does not own the lock
}

// want returns the live call. If there is none, it begins one.
func (l *WriteLock) want() (w *lockCall, begun bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lockCall != nil && l.lockCall.alive() {
		return l.lockCall, false, nil
	}
	if err := l.handle.Tasks.Begin(); err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w = &lockCall{cancel: cancel, queued: make(chan struct{}), tried: make(chan struct{})}
	l.lockCall = w
	go func() {
		defer l.handle.Tasks.End()
		defer cancel()
		l.waitAndNotify(ctx, w)
	}()
	return w, true, nil
}

// alive reports whether the call owns the lock or may still get it.
func (w *lockCall) alive() bool {
	select {
	case <-w.tried:
		return w.held != nil && !w.held.Over()
	default:
		return true
	}
}

// outcome returns the results of WriteLock.Lock.
func (w *lockCall) outcome() (owned bool, err error) {
	select {
	case <-w.tried:
		return w.held != nil && !w.held.Over(), w.err
	default:
		return false, nil
	}
}

// refusal returns the error of a call that has failed, unless it was cancelled or closed.
func (w *lockCall) refusal() error {
	select {
	case <-w.tried:
	default:
		return nil
	}
	if errors.Is(w.err, context.Canceled) || errors.Is(w.err, recipes.ErrClosed) {
		return nil
	}
	return w.err
}

// waitAndNotify waits for the lock and notifies the listener.
func (l *WriteLock) waitAndNotify(ctx context.Context, w *lockCall) {
	w.err = l.handle.Lock(ctx)
	l.mu.Lock()
	if w.err == nil {
		w.held = l.handle.Current() // nil after an immediate Unlock or Close
	}
	before, told := l.told, make(chan struct{})
	l.told = told
	l.mu.Unlock()
	defer close(told)
	close(w.tried)
	<-before
	listener := l.Listener()
	if listener != nil && w.held != nil {
		listener.LockAcquired()
		<-w.held.Ended
		listener.LockReleased()
	}
	if listener, ok := listener.(RefusalListener); ok && w.refusal() != nil {
		listener.LockRefused(w.err)
	}
}

// writeQueue is the queue of a WriteLock. It notes the progress of the call.
type writeQueue struct {
	lock  *WriteLock
	queue hold.Turnstile
}

func (c *writeQueue) Acquire(r *request.Sender, wait bool) (*hold.Hold, error) {
	c.lock.mu.Lock()
	w := c.lock.lockCall
	c.lock.mu.Unlock()
	queue := c.queue
	queue.Ahead = func(nodes []request.Numbered, own int) string {
		ahead := hold.Predecessor(nodes, own)
		c.lock.see(w, nodes[own].Name, ahead != "")
		return ahead
	}
	return queue.Acquire(r, wait)
}

// see notes the node of a call.
func (l *WriteLock) see(w *lockCall, id string, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.id = id
	if waits && !w.waits {
		w.waits = true
		close(w.queued)
	}
}
