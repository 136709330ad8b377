package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// offerAs offers an element; place is the part of its name that decides on its place.
func (q *claimQueue) offerAs(ctx context.Context, place string, data []byte) error {
	data = bytes.Clone(data) // it may be sent after the caller has left
	return settling(ctx, q.lifecycle, "offer to", func(
		ctx context.Context, r *requests, t *task[struct{}],
	) error {
		return q.offer(ctx, r, t, place, data)
	})
}

// offer appends the element and then deletes the record that made it safe to repeat that.
func (q *claimQueue) offer(
	ctx context.Context, r *requests, t *task[struct{}], place string, data []byte,
) error {
	guid, err := newGUID()
	if err != nil {
		return err
	}
	e := &arrival{q: q, guid: guid, prefix: protectedPrefix + guid + place + itemMarker}
	doubtful, err := e.enqueue(ctx, r, data)
	switch {
	case err == nil:
		err = e.refuseLast(r)
		if err == nil {
			t.settle(struct{}{})
		}
		q.drop(r, q.dedup(guid))
		return err
	case !doubtful:
		return err
	case errors.Is(err, ErrConnClosed):
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	if err = resolve(r, q.dedup(guid), err); err == nil {
		err = e.refuseLast(r)
	}
	return err
}

// commit sends a transaction until the answer is definite, and reports whether it was applied. The
// first operation creates a record with a name that is used once. When a repetition finds the
// record, an earlier request was applied; then there are no answers. beaten reports whether a
// refusal of another operation means that a rival was faster. Once ctx is done nothing more is
// sent; doubtful is set if the outcome of a request is unknown.
func (q *claimQueue) commit(
	ctx context.Context, r *requests, doubtful *bool, beaten func(failed int, err error) bool,
	ops ...any,
) (answers []zk.MultiResponse, applied bool, err error) {
	for {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		answers, failed, err := r.answered(ops)
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
		case transient(err):
			err = r.again(ctx, err)
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// counted adds the increment of the count to a transaction that stores an element, if the queue
// counts.
func (q *claimQueue) counted(ops ...any) []any {
	if !q.strict {
		return ops
	}
	return append(ops, &zk.SetDataRequest{Path: q.items(), Version: -1})
}

// ensureDirs creates the queue's directories. If one is deleted meanwhile, the call tries again.
func (q *claimQueue) ensureDirs(ctx context.Context, r *requests) error {
	for _, dir := range append([]string{"items"}, q.records...) {
		if err := r.ensureDir(ctx, join(q.path, dir)); err != nil {
			return err
		}
	}
	return nil
}
