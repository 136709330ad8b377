package recipes

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Member is a holder or a waiter, as read from its node.
type Member struct {
	Path    string // of its node
	Data    []byte // as set by Data: a host name, say
	Session int64
	Token   int64 // the fencing token of its hold, now or when it is its turn
	Reads   bool  // it is a reader of a read-write lock
}

// participantsOf returns the holders and the waiters for a caller.
func participantsOf(
	ctx context.Context, l *task.Group,
	look func(r *request.Sender) (hold.Participants, error),
) (holders, waiters []Member, err error) {
	all, err := task.Ask(ctx, l, "list the participants of", look)
	return members(all.Holders), members(all.Waiters), err
}

func members(list []hold.Participant) (members []Member) {
	for _, p := range list {
		members = append(members, Member(p))
	}
	return members
}

// inLine is embedded by locks that keep the owner and the waiters in one queue.
type inLine struct {
	of   *task.Group
	line *hold.Turnstile
}

// Participants returns the owner of the lock, if there is one, and the waiters in the order of
// their turns. The queue is listed at some moment during the call; members that leave before their
// node is read are left out. An owner may not know yet that it owns the lock, or that it has lost
// it. Participants waits for the connection.
func (p inLine) Participants(ctx context.Context) (owner, waiters []Member, err error) {
	return participantsOf(ctx, p.of, p.line.Participants)
}
