package recipes

import "context"

// TurnQueue is a line in which each member waits for its turn: those that came
// before have left, or their sessions have ended. It is a Lock whose line can be
// looked at. Use one TurnQueue per member. Methods may be called from several
// goroutines.
//
//	if err := queue.Lock(ctx); err != nil { // join, and wait for the turn
//		return err
//	}
//	defer queue.Unlock(ctx) // leave: it is the next one's turn
//
// What it promises is what Lock promises: the server has one member at a time
// whose turn it is, members have their turns in the order in which their nodes
// were created, who leaves wakes one, and nothing is left behind. Line shows the
// members as they stood at some moment not before its call, first the one whose
// turn it is.
//
// On disconnect, on expiry and when a context is done it behaves like Lock. In
// particular a member whose session ends loses its place, joins again at the end
// if it was waiting, and is told by Lost if it was its turn; nobody waits for a
// member that has died.
//
// What it cannot promise: that a member which is paused or cut off past its
// session's end knows that its turn is over. Use Token. Line reads the members
// one by one; one that joins meanwhile is not shown, one that leaves may be.
//
// Layout: <path>/_c_<guid>-member-<sequence>, ephemeral, data as set by Data.
// Other children are ignored.
//
// Sources: the "take your turn" queues of tutorials, whose nodes are persistent,
// so that a member which has died blocks all after it, and whose watch is not
// renewed when the predecessor only changes.
type TurnQueue struct {
	*handle
	line *turnstile
}

// turnMarker is what stands before the number of a member's node.
const turnMarker = "member-"

// NewTurnQueue makes a member's handle for the line at path, which is created when
// needed and must be used for this line only. It sends nothing. The options that
// matter are ACL, Data, SessionTimeout, RecheckEvery, Retry and Containers.
func NewTurnQueue(conn Conn, path string, opts ...Option) *TurnQueue {
	line := &turnstile{dir: path, kind: turnMarker, markers: []string{turnMarker}, opts: newOptions(opts), ahead: predecessor}
	return &TurnQueue{newHandle(conn, path, opts, line), line}
}

// Line returns the members in the order of their turns. It waits for the
// connection.
func (q *TurnQueue) Line(ctx context.Context) ([]Member, error) {
	return ask(ctx, q.lifecycle, "look at the line of", func(ctx context.Context, r *requests) ([]Member, error) {
		all, err := q.line.participants(ctx, r)
		return append(all.holders, all.waiters...), err
	})
}
