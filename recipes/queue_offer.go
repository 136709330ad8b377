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

// pendingOffer is an element on its way into a queue.
type pendingOffer struct {
	q            *claimQueue
	guid, prefix string // of its name, up to the number
	name         string // "": not known
}

// enqueue creates the element and a record of it in one transaction. The record is persistent: an
// ephemeral record would go with the session, while the element stays.
func (a *pendingOffer) enqueue(r *request.Sender, data []byte) (doubtful bool, err error) {
	never := func(int, error) bool { return false }
	flags := int32(zk.FlagSequence)
	if a.q.tasks.Opts.Ephemeral {
		flags |= zk.FlagEphemeral
	}
	answers, _, err := a.q.commit(r, &doubtful, never, a.q.counted(
		&zk.CreateRequest{Path: a.q.dedup(a.guid), Acl: a.q.tasks.Opts.ACL},
		&zk.CreateRequest{
			Path: a.q.item(a.prefix), Data: data, Acl: a.q.tasks.Opts.ACL, Flags: flags,
		},
	)...)
	if err == nil && answers != nil {
		a.name = request.BaseName(answers[1].String)
	}
	return doubtful, err
}

// undoLast takes the element back if its number may not be unique, and returns the error. If a
// consumer has taken the element already, the offer has succeeded: the element left before its
// producer could offer another one.
func (a *pendingOffer) undoLast(r *request.Sender) error {
	if err := a.find(r); err != nil {
		return request.AmbiguousIf(true, err)
	}
	seq, ok := Sequence(a.name, a.prefix)
	if !ok {
		return nil // gone
	}
	why := request.LastNumber(a.q.items(), seq)
	if why == nil {
		return nil
	}
	echo := false // an earlier try may have deleted it
	err := r.Unbounded().Repeat(func() error {
		err := r.Conn.Delete(a.q.item(a.name), 0)
		echo = echo || OutcomeOf(err) == Unknown
		return err
	})
	switch {
	case err == nil:
		return why
	case errors.Is(err, zk.ErrNoNode) && echo:
		return request.AmbiguousIf(true, why)
	case errors.Is(err, zk.ErrNoNode),
		errors.Is(err, zk.ErrBadVersion): // taken, or delivered by a LockQueue
		return nil
	}
	return request.AmbiguousIf(true, errors.Join(why, err))
}

// find looks for the element's name if the reply was lost. The name stays unknown if the element is
// gone, or if this client may add elements but not list them.
func (a *pendingOffer) find(r *request.Sender) error {
	if a.name != "" {
		return nil
	}
	names, err := r.Unbounded().Children(a.q.items())
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth) {
		return nil
	}
	for _, name := range names {
		if _, ok := Sequence(name, a.prefix); ok {
			a.name = name
		}
	}
	return err
}

// offerAs offers an element. place is the part of its name that decides its place in the queue.
func (q *claimQueue) offerAs(ctx context.Context, place string, data []byte) error {
	data = bytes.Clone(data) // it may be sent after the caller has left
	return task.ActAndSettle(ctx, q.tasks, "offer to", func(
		r *request.Sender, t *task.Task[struct{}],
	) error {
		return q.offer(r, t, place, data)
	})
}

// offer appends the element, and then deletes the record that made a repetition safe.
func (q *claimQueue) offer(
	r *request.Sender, t *task.Task[struct{}], place string, data []byte,
) error {
	guid, err := request.NewGUID()
	if err != nil {
		return err
	}
	e := &pendingOffer{
		q: q, guid: guid, prefix: request.ProtectedPrefix + guid + place + itemMarker,
	}
	doubtful, err := e.enqueue(r, data)
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
	r *request.Sender, doubtful *bool, beaten func(failed int, err error) bool,
	ops ...any,
) (answers []zk.MultiResponse, applied bool, err error) {
	for {
		if err := r.Over(); err != nil {
			return nil, false, err
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
			err = q.ensureDirs(r)
		case request.Transient(err):
			err = r.Again(err)
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
func (q *claimQueue) ensureDirs(r *request.Sender) error {
	for _, dir := range append([]string{"items"}, q.records...) {
		if err := r.EnsureDir(request.Join(q.tasks.Path, dir)); err != nil {
			return err
		}
	}
	return nil
}
