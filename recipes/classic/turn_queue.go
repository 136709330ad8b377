package classic

import (
	"context"

	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// TurnQueue is a line in which each member waits for its turn: until all members before it have
// left, or their sessions have ended. It is a Lock with a list of the waiters. Use one TurnQueue
// for each member. Methods may be called from several goroutines.
//
//	if err := queue.Lock(ctx); err != nil { // join, and wait for the turn
//		return err
//	}
//	defer queue.Unlock(ctx) // leave: it is the next member's turn
//
// Like Lock it guarantees: at the server one member at a time has its turn, members have their
// turns in the order in which their nodes were created, a member that leaves wakes one, and nothing
// is left behind. Line returns the members in the order of their turns, the present holder of the
// turn first.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock. A member
// loses its place with its session. If it was waiting, it joins again at the end. If it had its
// turn, its Lost is closed. The others wait for a dead member only until its session has expired.
//
// It cannot guarantee that a member which is paused beyond the end of its session knows that its
// turn is over. Use Token. Line reads the members one by one. It does not show a member that joins
// meanwhile, and may show a member that leaves meanwhile.
//
// Layout: <path>/_c_<guid>-member-<sequence>, ephemeral, data as set by Data. Other children are
// ignored.
//
// Sources: the "take your turn" queues of tutorials. Their nodes are persistent, so a dead member
// blocks all members after it. They also do not set a new watch after a mere change of the
// predecessor.
type TurnQueue struct {
	handle
	line *hold.Turnstile
}

// turnMarker stands before the number of a member's node.
const turnMarker = "member-"

// NewTurnQueue makes a member's handle for the line at path, which is created when needed and must
// be used for this line only. It sends nothing. The options that matter are ACL, Data,
// SessionTimeout, RecheckEvery, Retry and Containers.
func NewTurnQueue(conn recipes.Conn, path string, opts ...recipes.Option) *TurnQueue {
	line := &hold.Turnstile{
		Dir: path, Kind: turnMarker, Markers: []string{turnMarker}, Opts: request.NewOptions(opts),
		Ahead: hold.Predecessor,
	}
	return &TurnQueue{handle{hold.NewHandle(conn, path, line.Opts, line)}, line}
}

// Line returns the members in the order of their turns. It waits for the connection.
func (q *TurnQueue) Line(ctx context.Context) ([]recipes.Member, error) {
	all, err := task.Ask(ctx, q.core.Tasks, "look at the line of", q.line.Participants)
	return append(members(all.Holders), members(all.Waiters)...), err
}
