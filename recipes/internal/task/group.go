// Package task runs what a recipe does, and ends it: operations for callers, which may leave before
// the clean-up is over, and loops in the background, which watch nodes and read them again.
package task

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/zksim/zksim/recipes/internal/request"
)

// Group counts the operations and loops of a recipe, ends them, and waits for them.
//
//   - Call and Act run an operation for a caller. The operation can outlive the wait of the caller.
//   - Background runs a loop that lives until Close.
//   - Settled waits for clean-up that goes on after the caller has left.
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
	g := &Group{Conn: conn, Kind: kind, Path: path, Opts: opts}
	g.Ctx, g.Cancel = context.WithCancelCause(context.Background())
	return g
}

// Close ends all operations with ErrClosed and waits until nothing is left to clean up or ctx is
// done; in the latter case the clean-up goes on. It returns the first error that kept a node of the
// recipe from being removed.
func (g *Group) Close(ctx context.Context) error {
	g.Cancel(request.ErrClosed)
	return g.Explain("close", g.Settled(ctx, g.quiet()))
}

// quiet returns a channel that is closed when no operation or loop is left.
func (g *Group) quiet() <-chan struct{} {
	t := &g.count
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
func (g *Group) Begin() error {
	g.count.mu.Lock()
	defer g.count.mu.Unlock()
	if g.Ctx.Err() != nil {
		return context.Cause(g.Ctx)
	}
	g.count.active++
	return nil
}

// BeginCleanUp counts an operation, even after Close.
func (g *Group) BeginCleanUp() {
	g.count.mu.Lock()
	defer g.count.mu.Unlock()
	g.count.active++
}

// CleanUp removes nodes in the background, even after Close. It first waits until before is closed,
// unless before is nil. It notes an error.
func (g *Group) CleanUp(
	before <-chan struct{}, remove func(r *request.Sender) error,
) *Task[struct{}] {
	g.BeginCleanUp()
	return Start(func(*Task[struct{}]) (struct{}, error) {
		defer g.End()
		if before != nil {
			<-before
		}
		r := g.Sender(context.Background())
		defer func() { g.Note(r.CleanUpErr) }()
		return struct{}{}, r.Tidy(remove)
	})
}

// End counts an operation or a loop as over.
func (g *Group) End() {
	t := &g.count
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active--
	if t.active == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// Note keeps the first error of clean-up for Close.
func (g *Group) Note(err error) {
	g.count.mu.Lock()
	defer g.count.mu.Unlock()
	if g.count.cleanUpErr == nil {
		g.count.cleanUpErr = err
	}
}

// Settled waits for done, even for a moment after the end of ctx, and returns the first error of
// clean-up so far.
func (g *Group) Settled(ctx context.Context, done <-chan struct{}) error {
	if err := awaitDone(ctx, done); err != nil {
		return request.AmbiguousIf(true, err)
	}
	g.count.mu.Lock()
	defer g.count.mu.Unlock()
	return g.count.cleanUpErr
}

// Cause returns the reason why an operation with ctx has to end without a result, or nil. It also
// looks at Close itself, as Close ends ctx a moment late.
func (g *Group) Cause(ctx context.Context) error {
	return cmp.Or(context.Cause(ctx), context.Cause(g.Ctx))
}

// String returns the kind of the recipe and its path, for logs.
func (g *Group) String() string { return strings.TrimSpace(g.Kind + " " + g.Path) }

// Closed reports whether Close was called.
func (g *Group) Closed() bool { return g.Ctx.Err() != nil }

// Explain adds to an error the operation and the recipe.
func (g *Group) Explain(what string, err error) error {
	if err == nil {
		return nil
	}
	return &request.OperationError{What: what + " " + g.String(), Err: err}
}

// Sender begins a row of requests, which ctx ends.
func (g *Group) Sender(ctx context.Context) *request.Sender {
	return request.NewSender(ctx, g.Conn, g.Opts, g.Kind, g.Path)
}

// Background runs loop in its own goroutine. Close ends the context of loop and waits for its
// return. Before loop returns it removes its nodes by r.Tidy, under context.Background(). No retry
// policy ends the loop.
func (g *Group) Background(loop func(r *request.Sender)) error {
	if err := g.Begin(); err != nil {
		return err
	}
	go func() {
		defer g.End()
		r := g.Sender(g.Ctx)
		r.Opts.Retry = request.WithoutEnd(r.Opts.Retry)
		defer func() { g.Note(r.CleanUpErr) }()
		loop(r)
	}()
	return nil
}
