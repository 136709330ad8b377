package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// offerAs offers an element. place is the part of its name that decides its place in the queue.
func (q *claimQueue) offerAs(ctx context.Context, place string, data []byte) error {
	data = bytes.Clone(data) // it may be sent after the caller has left
	return task.ActAndSettle(ctx, q.tasks, "offer to", func(
		ctx context.Context, r *request.Sender, t *task.Task[struct{}],
	) error {
		return q.offer(ctx, r, t, place, data)
	})
}

// offer appends the element, and then deletes the record that made a repetition safe.
func (q *claimQueue) offer(
	ctx context.Context, r *request.Sender, t *task.Task[struct{}], place string, data []byte,
) error {
	guid, err := request.NewGUID()
	if err != nil {
		return err
	}
	e := &pendingOffer{
		q: q, guid: guid, prefix: request.ProtectedPrefix + guid + place + itemMarker,
	}
	doubtful, err := e.enqueue(ctx, r, data)
	switch {
	case err == nil:
		err = e.undoLast(r)
		if err == nil {
			t.Settle(struct{}{})
		}
		q.drop(r, q.dedup(guid))
		return err
	case !doubtful:
		return err
	case errors.Is(err, ErrConnClosed):
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	if err = request.Resolve(r, q.dedup(guid), err); err == nil {
		err = e.undoLast(r)
	}
	return err
}

// commit sends a transaction until the answer is definite, and reports whether it was applied. The
// first operation creates a record with a name that is used once. If a repetition finds the record,
// an earlier request was applied. Then commit returns no answers. beaten reports whether the
// refusal of another operation means that a rival was faster. Once ctx is done commit sends nothing
// more. doubtful is set if the outcome of a request is unknown.
func (q *claimQueue) commit(
	ctx context.Context, r *request.Sender, doubtful *bool, beaten func(failed int, err error) bool,
	ops ...any,
) (answers []zk.MultiResponse, applied bool, err error) {
	for {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		answers, failed, err := r.Answered(ops)
		*doubtful = *doubtful || OutcomeOf(err) == Unknown
		switch {
		case err == nil:
			return answers, true, nil
		case errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return nil, true, nil
		case beaten(failed, err):
			*doubtful = false
			return nil, false, nil
		case errors.Is(err, zk.ErrNoNode):
			err = q.ensureDirs(ctx, r)
		case request.Transient(err):
			err = r.Again(ctx, err)
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// counted adds an increment of the count of offers to a transaction that stores an element, if the
// queue is strict.
func (q *claimQueue) counted(ops ...any) []any {
	if !q.strict {
		return ops
	}
	return append(ops, &zk.SetDataRequest{Path: q.items(), Version: -1})
}

// ensureDirs creates the queue's directories. If a directory is deleted meanwhile, its caller tries
// again.
func (q *claimQueue) ensureDirs(ctx context.Context, r *request.Sender) error {
	for _, dir := range append([]string{"items"}, q.records...) {
		if err := r.EnsureDir(ctx, request.Join(q.tasks.Path, dir)); err != nil {
			return err
		}
	}
	return nil
}
