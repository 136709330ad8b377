package task

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/zksim/zksim/recipes/internal/request"
)

// Group counts the operations and loops of a recipe, ends them, and waits for them. The recipes
// with a Close embed it.
//
//   - call and act run an operation for a caller. The operation can outlive the wait of the caller.
//   - background runs a loop that lives until Close.
//   - settled waits for clean-up that goes on after the caller has left; trouble is the first error
//     of that.
type Group struct {
	Conn request.Conn
	Kind string // the name in errors; may be empty
	Path string
	Opts request.Options

	Ctx    context.Context // ends with Close
	Cancel context.CancelCauseFunc

	count operationCount
}

// operationCount counts operations and loops.
type operationCount struct {
	mu         sync.Mutex
	active     int           // operations and loops that are not over
	idle       chan struct{} // closed when active becomes 0; nil: no waiter
	cleanUpErr error         // the first clean-up that was refused
}

// NewGroup begins the life of a recipe. It sends nothing.
func NewGroup(conn request.Conn, kind, path string, opts request.Options) *Group {
	l := &Group{Conn: conn, Kind: kind, Path: path, Opts: opts}
	l.Ctx, l.Cancel = context.WithCancelCause(context.Background())
	return l
}

// Close ends all operations with ErrClosed and waits until nothing is left to clean up or ctx is
// done; in the latter case the clean-up goes on. Later calls return ErrClosed. It leaves the Conn
// open. It returns the first error that kept a node of this recipe from being removed.
func (l *Group) Close(ctx context.Context) error {
	l.Cancel(request.ErrClosed)
	return l.Explain("close", l.Settled(ctx, l.quiet()))
}

// quiet returns a channel that is closed when no operation or loop is left.
func (l *Group) quiet() <-chan struct{} {
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

// Begin counts an operation or a loop, unless the recipe is closed.
func (l *Group) Begin() error {
	l.count.mu.Lock()
	defer l.count.mu.Unlock()
	if l.Ctx.Err() != nil {
		return context.Cause(l.Ctx)
	}
	l.count.active++
	return nil
}

// BeginCleanUp counts an operation, even after Close.
func (l *Group) BeginCleanUp() {
	l.count.mu.Lock()
	defer l.count.mu.Unlock()
	l.count.active++
}

// CleanUp removes nodes in the background, even after Close. It first waits until before is closed,
// unless before is nil. It notes an error.
func (l *Group) CleanUp(
	before <-chan struct{}, remove func(r *request.Sender) error,
) *Task[struct{}] {
	l.BeginCleanUp()
	return Start(func(*Task[struct{}]) (struct{}, error) {
		defer l.End()
		if before != nil {
			<-before
		}
		r := l.Sender()
		defer func() { l.Note(r.CleanUpErr) }()
		return struct{}{}, r.Tidy(remove)
	})
}

// End counts an operation or a loop as over.
func (l *Group) End() {
	t := &l.count
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active--
	if t.active == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// Note keeps the first error of clean-up for Close.
func (l *Group) Note(err error) {
	l.count.mu.Lock()
	defer l.count.mu.Unlock()
	if l.count.cleanUpErr == nil {
		l.count.cleanUpErr = err
	}
}

// Settled waits for done, even for a moment after the end of ctx, and returns the first error of
// clean-up so far.
func (l *Group) Settled(ctx context.Context, done <-chan struct{}) error {
	if err := awaitDone(ctx, done); err != nil {
		return request.AmbiguousIf(true, err)
	}
	l.count.mu.Lock()
	defer l.count.mu.Unlock()
	return l.count.cleanUpErr
}

// Cause returns the reason why an operation with ctx has to end without a result, or nil. It also
// looks at Close itself, as Close ends ctx a moment late.
func (l *Group) Cause(ctx context.Context) error {
	return cmp.Or(context.Cause(ctx), context.Cause(l.Ctx))
}

// String returns the kind of the recipe and its path, for logs.
func (l *Group) String() string { return strings.TrimSpace(l.Kind + " " + l.Path) }

// Closed reports whether Close was called.
func (l *Group) Closed() bool { return l.Ctx.Err() != nil }

// Explain adds to an error the operation and the recipe.
func (l *Group) Explain(what string, err error) error {
	if err == nil {
		return nil
	}
	return &request.OperationError{What: what + " " + l.String(), Err: err}
}

// Sender begins a row of requests.
func (l *Group) Sender() *request.Sender {
	return request.NewSender(l.Conn, l.Opts, l.Kind, l.Path)
}

// Background runs loop in its own goroutine. Close ends the context of loop and waits for its
// return. Before loop returns it removes its nodes by r.tidy, under context.Background(). No retry
// policy ends the loop.
func (l *Group) Background(loop func(ctx context.Context, r *request.Sender)) error {
	if err := l.Begin(); err != nil {
		return err
	}
	go func() {
		defer l.End()
		r := l.Sender()
		r.Opts.Retry = request.WithoutEnd(r.Opts.Retry)
		defer func() { l.Note(r.CleanUpErr) }()
		loop(l.Ctx, r)
	}()
	return nil
}
