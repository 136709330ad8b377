package recipes

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"time"
)

// lifecycle counts the operations and loops of a recipe, ends them, and waits for them. The recipes
// with a Close embed it.
//
//   - call and act run an operation for a caller. The operation can outlive the wait of the caller.
//   - background runs a loop that lives until Close.
//   - settled waits for clean-up that goes on after the caller has left; trouble is the first error
//     of that.
type lifecycle struct {
	conn Conn
	kind string // the name in errors; may be empty
	path string
	opts options

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc

	count operationCount
}

// operationCount counts operations and loops.
type operationCount struct {
	mu         sync.Mutex
	active     int           // operations and loops that are not over
	idle       chan struct{} // closed when active becomes 0; nil: no waiter
	cleanUpErr error         // the first clean-up that was refused
}

// newLifecycle begins the life of a recipe. It sends nothing.
func newLifecycle(conn Conn, kind, path string, opts []Option) *lifecycle {
	l := &lifecycle{conn: conn, kind: kind, path: path, opts: newOptions(opts)}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// Close ends all operations with ErrClosed and waits until nothing is left to clean up or ctx is
// done; in the latter case the clean-up goes on. Later calls return ErrClosed. It leaves the Conn
// open. It returns the first error that kept a node of this recipe from being removed.
func (l *lifecycle) Close(ctx context.Context) error {
	l.cancel(ErrClosed)
	return l.explain("close", l.settled(ctx, l.quiet()))
}

// quiet returns a channel that is closed when no operation or loop is left.
func (l *lifecycle) quiet() <-chan struct{} {
	t := &l.count
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	idle := t.idle
	if t.active == 0 {
		close(t.idle)
		t.idle = nil
	}
	return idle
}

// begin counts an operation or a loop, unless the recipe is closed.
func (l *lifecycle) begin() error {
	l.count.mu.Lock()
	defer l.count.mu.Unlock()
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	l.count.active++
	return nil
}

// beginCleanUp counts an operation, even after Close.
func (l *lifecycle) beginCleanUp() {
	l.count.mu.Lock()
	defer l.count.mu.Unlock()
	l.count.active++
}

// cleanUp removes nodes in the background, even after Close. It first waits until before is closed,
// unless before is nil. It notes an error.
func (l *lifecycle) cleanUp(
	before <-chan struct{}, remove func(r *requests) error,
) *task[struct{}] {
	l.beginCleanUp()
	return start(func(*task[struct{}]) (struct{}, error) {
		defer l.end()
		if before != nil {
			<-before
		}
		r := l.requests()
		defer func() { l.note(r.cleanUpErr) }()
		return struct{}{}, r.tidy(remove)
	})
}

// end counts an operation or a loop as over.
func (l *lifecycle) end() {
	t := &l.count
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active--
	if t.active == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// note keeps the first error of clean-up for Close.
func (l *lifecycle) note(err error) {
	l.count.mu.Lock()
	defer l.count.mu.Unlock()
	if l.count.cleanUpErr == nil {
		l.count.cleanUpErr = err
	}
}

// settled waits for done, even for a moment after the end of ctx, and returns the first error of
// clean-up so far.
func (l *lifecycle) settled(ctx context.Context, done <-chan struct{}) error {
	if err := awaitDone(ctx, done); err != nil {
		return ambiguousIf(true, err)
	}
	l.count.mu.Lock()
	defer l.count.mu.Unlock()
	return l.count.cleanUpErr
}

// cause returns the reason why an operation with ctx has to end without a result, or nil. It also
// looks at Close itself, as Close ends ctx a moment late.
func (l *lifecycle) cause(ctx context.Context) error {
	return cmp.Or(context.Cause(ctx), context.Cause(l.ctx))
}

// String returns the kind of the recipe and its path, for logs.
func (l *lifecycle) String() string { return strings.TrimSpace(l.kind + " " + l.path) }

// closed reports whether Close was called.
func (l *lifecycle) closed() bool { return l.ctx.Err() != nil }

// explain adds to an error the operation and the recipe.
func (l *lifecycle) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	return &operationError{what + " " + l.String(), err}
}

// requests begins a row of requests. Rows that fail together are not repeated together: each
// repetition is delayed by up to a millisecond, which depends on the kind of recipe and the start
// of the row. A clean-up is delayed by another half a millisecond. The delays spread the load on a
// server, and keep equal requests of one client from racing for the same answer.
func (l *lifecycle) requests() *requests {
	r := newRequests(l.conn, l.opts)
	r.path = l.path
	r.backoff.extra = extraDelay(l.kind, time.Now())
	return r
}

// rowsApart bounds the extra delay of a row.
const rowsApart = time.Millisecond

// extraDelay returns the extra delay of a row. It uses no random number and no counter, so that it
// does not depend on the order of goroutines.
func extraDelay(kind string, begun time.Time) time.Duration {
	sum := crc32.NewIEEE()
	fmt.Fprint(sum, kind, begun.UnixNano())
	return time.Duration(sum.Sum32()) % rowsApart
}

// background runs loop in its own goroutine. Close ends the context of loop and waits for its
// return. Before loop returns it removes its nodes by r.tidy, under context.Background(). No retry
// policy ends the loop.
func (l *lifecycle) background(loop func(ctx context.Context, r *requests)) error {
	if err := l.begin(); err != nil {
		return err
	}
	go func() {
		defer l.end()
		r := l.requests()
		r.opts.retry = withoutEnd(r.opts.retry)
		defer func() { l.note(r.cleanUpErr) }()
		loop(l.ctx, r)
	}()
	return nil
}
