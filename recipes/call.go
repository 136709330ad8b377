package recipes

import "context"

// work is an operation in its own goroutine. It may settle its result before it has cleaned up; see
// task. Work that has taken something off the server must undo that when settle says that the
// caller has left.
type work[T any] func(ctx context.Context, r *requests, t *task[T]) (T, error)

// call runs one operation of a recipe. An error wraps ErrAmbiguous if the caller has left before
// the end of the operation: because ctx is done, the recipe was closed, or the retry policy has
// given up.
func call[T any](ctx context.Context, l *lifecycle, what string, do work[T]) (T, error) {
	value, known, err := run(ctx, l, do)
	return value, l.explain(what, ambiguousIf(!known, err))
}

// callAction is call for an operation without a result.
func callAction(
	ctx context.Context, l *lifecycle, what string, do func(ctx context.Context, r *requests) error,
) error {
	return settling(ctx, l, what, func(
		ctx context.Context, r *requests, _ *task[struct{}],
	) error {
		return do(ctx, r)
	})
}

// settling is act for an operation that may settle its result before it has cleaned up.
func settling(
	ctx context.Context, l *lifecycle, what string,
	do func(ctx context.Context, r *requests, t *task[struct{}]) error,
) error {
	_, err := call(ctx, l, what, func(
		ctx context.Context, r *requests, t *task[struct{}],
	) (struct{}, error) {
		return struct{}{}, do(ctx, r, t)
	})
	return err
}

// ask is call for an operation that changes nothing, so its outcome is never in doubt.
func ask[T any](
	ctx context.Context, l *lifecycle, what string,
	do func(ctx context.Context, r *requests) (T, error),
) (T, error) {
	value, _, err := run(
		ctx, l, func(ctx context.Context, r *requests, _ *task[T]) (T, error) { return do(ctx, r) },
	)
	return value, l.explain(what, err)
}

// run runs one operation as a task. known is false if the caller has left. With an error there is
// no value.
func run[T any](ctx context.Context, l *lifecycle, do work[T]) (value T, known bool, err error) {
	var none T
	if ctx.Err() != nil {
		return none, true, context.Cause(ctx)
	}
	if err := l.begin(); err != nil {
		return none, true, err
	}
	return runCounted(ctx, l, do)
}

// runCounted is run for an operation that is counted already. The operation begins even if ctx is
// done or the recipe is closed.
func runCounted[T any](
	ctx context.Context, l *lifecycle, do work[T],
) (value T, known bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })()
	t := start(func(t *task[T]) (T, error) {
		defer l.end()
		r := l.requests()
		r.giveUp = cancel
		defer func() { l.note(r.cleanUpErr) }()
		return do(ctx, r, t)
	})
	value, known, err = t.await(ctx)
	if err != nil {
		var none T
		value = none
	}
	return value, known, err
}
