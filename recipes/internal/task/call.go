package task

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/request"
)

// work is an operation in its own goroutine. It may settle its result before it has cleaned up; see
// Task. Work that has taken something off the server must undo that when Settle says that the
// caller has left.
type work[T any] func(r *request.Sender, t *Task[T]) (T, error)

// Call runs one operation of a recipe. An error wraps ErrAmbiguous if the caller has left before
// the end of the operation: because ctx is done, the recipe was closed, or the retry policy has
// given up.
func Call[T any](ctx context.Context, g *Group, what string, do work[T]) (T, error) {
	value, known, err := Run(ctx, g, do)
	return value, g.Explain(what, request.AmbiguousIf(!known, err))
}

// Act is Call for an operation without a result.
func Act(
	ctx context.Context, g *Group, what string,
	do func(r *request.Sender) error,
) error {
	return ActAndSettle(ctx, g, what, func(r *request.Sender, _ *Task[struct{}]) error {
		return do(r)
	})
}

// ActAndSettle is Act for an operation that may settle its result before it has cleaned up.
func ActAndSettle(
	ctx context.Context, g *Group, what string,
	do func(r *request.Sender, t *Task[struct{}]) error,
) error {
	_, err := Call(ctx, g, what, func(r *request.Sender, t *Task[struct{}]) (struct{}, error) {
		return struct{}{}, do(r, t)
	})
	return err
}

// Ask is Call for an operation that changes nothing, so its outcome is never in doubt.
func Ask[T any](
	ctx context.Context, g *Group, what string,
	do func(r *request.Sender) (T, error),
) (T, error) {
	value, _, err := Run(ctx, g, func(r *request.Sender, _ *Task[T]) (T, error) {
		return do(r)
	})
	return value, g.Explain(what, err)
}

// Run runs one operation as a task. known is false if the caller has left. With an error there is
// no value.
func Run[T any](ctx context.Context, g *Group, do work[T]) (value T, known bool, err error) {
	var none T
	if ctx.Err() != nil {
		return none, true, context.Cause(ctx)
	}
	if err := g.Begin(); err != nil {
		return none, true, err
	}
	return RunCounted(ctx, g, do)
}

// RunCounted is Run for an operation that is counted already. The operation begins even if ctx is
// done or the recipe is closed.
func RunCounted[T any](ctx context.Context, g *Group, do work[T]) (value T, known bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.Ctx, func() { cancel(context.Cause(g.Ctx)) })()
	t := Start(func(t *Task[T]) (T, error) {
		defer g.End()
		r := g.Sender(ctx)
		r.GiveUp = cancel
		defer func() { g.Note(r.CleanUpErr) }()
		return do(r, t)
	})
	value, known, err = t.Await(ctx)
	if err != nil {
		var none T
		value = none
	}
	return value, known, err
}

// EndChange finishes a change for its caller and deletes the record. It returns a nil error if the
// change was made, even if err is an error.
func EndChange[T any](
	g *Group, r *request.Sender, t *Task[T], w *request.OnceOnlyChange, value T, err error,
) (T, error) {
	if err == nil {
		t.Settle(value)
		g.Note(r.Remove(w.Record))
		return value, nil
	}
	return value, w.Resolve(r, err)
}
