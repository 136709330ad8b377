package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// pendingOffer is an element on its way into a queue.
type pendingOffer struct {
	q            *claimQueue
	guid, prefix string // of its name, up to the number
	name         string // "": not known
}

// enqueue creates the element and a record of it in one transaction. The record is persistent: an
// ephemeral record would go with the session, while the element stays.
func (a *pendingOffer) enqueue(
	ctx context.Context, r *request.Sender, data []byte,
) (doubtful bool, err error) {
	never := func(int, error) bool { return false }
	flags := int32(zk.FlagSequence)
	if a.q.tasks.Opts.Ephemeral {
		flags |= zk.FlagEphemeral
	}
	answers, _, err := a.q.commit(ctx, r, &doubtful, never, a.q.counted(
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
	err := r.Repeat(context.Background(), func() error {
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
	names, err := r.Children(context.Background(), a.q.items())
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
