package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// Offer appends an element with data as its payload. It returns nil when it
// has been appended, exactly once. While the connection is down it tries again
// until ctx is done; see Queue for what an error means. data is not changed
// and must not be before Offer's clean-up is over, that is until Close when
// Offer has returned an error.
func (q *Queue) Offer(ctx context.Context, data []byte) error {
	_, err := call(ctx, q, "offer to", func(ctx context.Context, r *requests, t *task[struct{}]) (struct{}, error) {
		return struct{}{}, q.offer(ctx, r, t, data)
	})
	return err
}

// offer appends the element and then deletes the record that made it safe to
// repeat that.
func (q *Queue) offer(ctx context.Context, r *requests, t *task[struct{}], data []byte) error {
	guid, err := newGUID()
	if err != nil {
		return err
	}
	doubtful, err := q.enqueue(ctx, r, guid, data)
	switch {
	case err == nil:
		t.settle(struct{}{})
		q.tidy(r, q.dedup(guid))
		return nil
	case !doubtful:
		return err
	case errors.Is(err, ErrConnClosed):
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	return q.resolve(r, guid, err)
}

// resolve deletes the record of an enqueueing that was given up for why, and
// learns from that whether it had been applied.
func (q *Queue) resolve(r *requests, guid string, why error) error {
	echo := false // the record may have been deleted by an earlier try
	err := r.repeat(context.Background(), func() error {
		err := r.conn.Delete(q.dedup(guid), -1)
		echo = echo || OutcomeOf(err) == Unknown
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode) && !echo:
		return why
	case errors.Is(err, zk.ErrNoNode):
		return fmt.Errorf("%w: %w", ErrAmbiguous, why)
	}
	return fmt.Errorf("%w: %w", ErrAmbiguous, errors.Join(why, err))
}

// enqueue creates the element together with a record of that, so that a
// repetition fails at the record if the first request was applied after all.
// The record is persistent: an ephemeral one would go with the session, while
// the element stays. doubtful is whether an error leaves the outcome open.
func (q *Queue) enqueue(ctx context.Context, r *requests, guid string, data []byte) (doubtful bool, err error) {
	for {
		if ctx.Err() != nil {
			return doubtful, context.Cause(ctx)
		}
		failed, err := r.multi(
			&zk.CreateRequest{Path: q.dedup(guid), Acl: q.opts.acl},
			&zk.CreateRequest{Path: q.item(protectedPrefix + guid + itemMarker), Data: data, Acl: q.opts.acl, Flags: zk.FlagSequence},
		)
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return false, nil
		case errors.Is(err, zk.ErrNoNode):
			err = q.ensureDirs(ctx, r)
		case transient(err):
			doubtful = doubtful || OutcomeOf(err) == Unknown
			err = r.backoff.wait(ctx)
		default:
			doubtful = doubtful || OutcomeOf(err) == Unknown
		}
		if err != nil {
			return doubtful, err
		}
	}
}

// ensureDirs creates the queue's three directories. That somebody deletes one
// meanwhile is no error: the call tries again.
func (q *Queue) ensureDirs(ctx context.Context, r *requests) error {
	for _, dir := range []string{"items", "dedup", "claims"} {
		err := r.ensure(ctx, join(q.path, dir), q.opts.acl)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	return nil
}
