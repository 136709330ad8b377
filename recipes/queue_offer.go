package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// offerAs offers an element whose name says what there is to say of its place.
func (q *claimQueue) offerAs(ctx context.Context, place string, data []byte) error {
	data = bytes.Clone(data) // what is left behind may send it when the caller has gone on
	_, err := call(ctx, q.lifecycle, "offer to", func(ctx context.Context, r *requests, t *task[struct{}]) (struct{}, error) {
		return struct{}{}, q.offer(ctx, r, t, place, data)
	})
	return err
}

// offer appends the element and then deletes the record that made it safe to
// repeat that.
func (q *claimQueue) offer(ctx context.Context, r *requests, t *task[struct{}], place string, data []byte) error {
	guid, err := newGUID()
	if err != nil {
		return err
	}
	doubtful, err := q.enqueue(ctx, r, guid, place, data)
	switch {
	case err == nil:
		t.settle(struct{}{})
		q.drop(r, q.dedup(guid))
		return nil
	case !doubtful:
		return err
	case errors.Is(err, ErrConnClosed):
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	return resolve(r, q.dedup(guid), err)
}

// enqueue creates the element together with a record of that. The record is
// persistent: an ephemeral one would go with the session, while the element stays.
func (q *claimQueue) enqueue(ctx context.Context, r *requests, guid, place string, data []byte) (doubtful bool, err error) {
	_, err = q.commit(ctx, r, &doubtful, func(int, error) bool { return false }, q.counted(
		&zk.CreateRequest{Path: q.dedup(guid), Acl: q.opts.acl},
		&zk.CreateRequest{Path: q.item(protectedPrefix + guid + place + itemMarker), Data: data, Acl: q.opts.acl, Flags: zk.FlagSequence},
	)...)
	return doubtful, err
}

// commit sends a transaction whose first operation makes a record, of a name that is
// used once, until the answer is definite, and reports whether it was applied. A
// repetition tells: the record exists if an earlier request was applied after all.
// beaten says of a refusal of another operation whether somebody else was faster.
// Once ctx is done nothing more is sent; doubtful says whether something was of
// which nobody knows.
func (q *claimQueue) commit(ctx context.Context, r *requests, doubtful *bool, beaten func(failed int, err error) bool, ops ...any) (applied bool, err error) {
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		failed, err := r.multi(ops...)
		*doubtful = *doubtful || OutcomeOf(err) == Unknown
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return true, nil
		case beaten(failed, err):
			*doubtful = false
			return false, nil
		case errors.Is(err, zk.ErrNoNode):
			err = q.ensureDirs(ctx, r)
		case transient(err):
			err = r.again(ctx, err)
		}
		if err != nil {
			return false, err
		}
	}
}

// counted adds to a transaction that stores an element that one more was
// stored, if that is counted.
func (q *claimQueue) counted(ops ...any) []any {
	if !q.strict {
		return ops
	}
	return append(ops, &zk.SetDataRequest{Path: q.items(), Version: -1})
}

// ensureDirs creates the queue's directories. That somebody deletes one
// meanwhile is no error: the call tries again.
func (q *claimQueue) ensureDirs(ctx context.Context, r *requests) error {
	for _, dir := range append([]string{"items"}, q.records...) {
		if err := r.ensureDir(ctx, join(q.path, dir)); err != nil {
			return err
		}
	}
	return nil
}
