package recipes

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
)

// Member is a holder or a waiter, as read from its node.
type Member struct {
	Path    string // of its node
	Data    []byte // as set by Data: a host name, say
	Session int64
	Token   int64 // the fencing token of its hold, now or when it is its turn
	Reads   bool  // it is a reader of a read-write lock
}

// participants are the holders and the waiters, both oldest first.
type participants struct{ holders, waiters []Member }

// participants returns the holders and the waiters for a caller.
func (l *lifecycle) participants(
	ctx context.Context, look func(ctx context.Context, r *requests) (participants, error),
) (holders, waiters []Member, err error) {
	all, err := ask(ctx, l, "list the participants of", look)
	return all.holders, all.waiters, err
}

// inLine is embedded by locks that keep the owner and the waiters in one queue.
type inLine struct {
	of   *lifecycle
	line *turnstile
}

// Participants returns the owner of the lock, if there is one, and the waiters in the order of
// their turns. The queue is listed at some moment during the call; members that leave before their
// node is read are left out. An owner may not know yet that it owns the lock, or that it has lost
// it. Participants waits for the connection.
func (p inLine) Participants(ctx context.Context) (owner, waiters []Member, err error) {
	return p.of.participants(ctx, p.line.participants)
}

// participants reads the queue. A node that waits for no other node is a holder.
func (q *turnstile) participants(ctx context.Context, r *requests) (participants, error) {
	return r.participants(
		ctx, q.dir, q.markers, func(queue []numbered, own int) bool {
			return q.ahead(queue, own) == ""
		},
	)
}

// participants reads the nodes in dir that have one of the markers. Nodes that are deleted
// meanwhile are left out.
func (r *requests) participants(
	ctx context.Context, dir string, markers []string, holds func(queue []numbered, own int) bool,
) (all participants, err error) {
	err = r.fresh(ctx, dir, func() error {
		queue, err := r.listQueue(ctx, dir, markers)
		if err == nil {
			all, err = r.membersOf(ctx, dir, queue, holds)
		}
		return err
	})
	return all, err
}

// membersOf reads the nodes of a queue.
func (r *requests) membersOf(
	ctx context.Context, dir string, queue []numbered, holds func(queue []numbered, own int) bool,
) (all participants, err error) {
	for i, n := range queue {
		m, there, err := r.member(ctx, join(dir, n.name))
		m.Reads = n.marker == readMarker
		switch {
		case err != nil:
			return participants{}, err
		case !there:
		case holds(queue, i):
			all.holders = append(all.holders, m)
		default:
			all.waiters = append(all.waiters, m)
		}
	}
	return all, nil
}

// queueIn lists the queue in dir as it is at some moment of the call. A missing directory is an
// empty queue.
func (r *requests) queueIn(
	ctx context.Context, dir string, markers []string,
) ([]numbered, error) {
	return freshResult(ctx, r, dir, func() ([]numbered, error) {
		return r.listQueue(ctx, dir, markers)
	})
}

// listQueue is queueIn without a sync: the client's server may lag behind. Nodes with a number that
// is not unique are left out: their creators delete them.
func (r *requests) listQueue(
	ctx context.Context, dir string, markers []string,
) ([]numbered, error) {
	names, err := r.children(ctx, dir)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	queue := sortNumbered(names, markers...)
	return slices.DeleteFunc(queue, func(n numbered) bool { return !isUnique(n.seq) }), nil
}

// member reads the node of a member, unless it is gone. Names are never used twice, so a listed
// node that can be read has existed without a break since it was listed.
func (r *requests) member(ctx context.Context, path string) (m Member, there bool, err error) {
	data, stat, err := r.get(ctx, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return m, false, nil
	case err != nil:
		return m, false, err
	}
	return Member{
		Path: path, Data: data, Session: stat.EphemeralOwner, Token: stat.Czxid,
	}, true, nil
}
