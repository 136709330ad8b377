package lock

import (
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// hold is one lock that was granted: from the return of a lock operation to its end, as the server
// sees it and as the client believes.
type hold struct {
	lock        lin.Op
	unlock      *lin.Op        // the client's release, if it called one
	refused     []*lin.Op      // its releases that have certainly failed, as their client says
	next        *lin.Op        // the client's next grant of a hold of its own, in the same slot
	again       bool           // with the token of the hold before, which its client had lost
	inner       []*lin.Op      // acquires and releases in between, of a hold acquired again
	depth       int            // how many of these acquires have no release
	second      bool           // the client holds the lock in another mode, with this token or none
	node        *judging.Znode // the client's own znode, if known
	owner       model.Owner
	whyNotOwner string // why the client owns nothing, or empty

	holdEnd
}

// granted is the latest step at which the lock can have become the client's. A reply may reach the
// client after its session has ended: then the grant was before that.
func (h *hold) granted() int64 { return min(h.lock.Return, h.serverEnd) }

// ownedUntil is the step at which the hold ends for the server. If that is not known, it is before
// the grant.
func (h *hold) ownedUntil() int64 { return h.serverEnd }

// ownedAtMostUntil is ownedUntil, but the latest possible one.
func (h *hold) ownedAtMostUntil() int64 {
	if h.ending == unknownEnd {
		return h.beliefEnd
	}
	return h.serverEnd
}

// believedAtMostUntil is believedUntil, but the latest possible one.
func (h *hold) believedAtMostUntil() int64 { return min(h.beliefEnd, h.ownedAtMostUntil()) }

// heldUntil is the step until which the lock is the client's, for the server and for the client.
func (h *hold) heldUntil() int64 { return min(h.beliefEnd, h.serverEnd) }

// isOver reports whether the client has called unlock, or was granted the lock anew after a loss.
func (h *hold) isOver() bool { return h.unlock != nil || h.ending == givenUp && h.next != nil }

// believedUntil is the step until which the client rightly believes that it holds the lock. A
// zombie window may follow. After a theft there is no zombie window: the whole belief counts.
func (h *hold) believedUntil() int64 {
	if h.ending == stolen {
		return h.beliefEnd
	}
	return h.heldUntil()
}

// pairHolds finds the release of each lock that was granted, client by client.
func pairHolds(history lin.History, kind kind) []*hold {
	var holds []*hold
	for _, client := range judging.Clients(history.Ops) {
		holds = append(holds, holdsOf(client, history, kind)...)
	}
	return holds
}

// holdsOf returns the holds of one client. A lock granted again under the same token is the same
// hold (a re-entrant lock), and ends with its last release. If a signal of loss came in between, it
// is another hold, unless the lock counts its levels. A close releases everything. A release that
// has certainly failed ends nothing.
func holdsOf(client string, history lin.History, kind kind) (holds []*hold) {
	open := map[string]*hold{} // by slot
	last := map[string]*hold{} // the same, also if it has ended
	for i := range history.Ops {
		op := &history.Ops[i]
		slot := kind.slot(*op)
		current := open[slot]
		switch {
		case op.Client != client:
		case op.Kind == ops.Close:
			for _, h := range holds {
				if h.unlock == nil && h.lock.Return < op.Call {
					h.unlock, open[kind.slot(h.lock)] = op, nil
				}
			}
		case op.Kind == kind.acquire && op.OK() && current != nil &&
			kind.isAgain(current.lock, *op) &&
			(kind.reentrant || !lostBefore(history, current, *op)):
			current.inner, current.depth = append(current.inner, op), current.depth+1
		case op.Kind == kind.acquire && op.OK():
			open[slot] = &hold{lock: *op, second: kind.hasModes() && holdsToken(holds, op.Token)}
			holds = append(holds, open[slot])
			if before := last[slot]; before != nil {
				before.next = op
				open[slot].again = before.lock.Token == op.Token && lostBefore(history, before, *op)
			}
			last[slot] = open[slot]
		case op.Kind != kind.release || current == nil:
		case op.Outcome == lin.OpFailed && current.depth > 0:
		case op.Outcome == lin.OpFailed:
			current.refused = append(current.refused, op)
		case op.Outcome == lin.OpNotHeld: // every level was lost
			current.unlock, open[slot] = op, nil
		case current.depth > 0:
			current.inner, current.depth = append(current.inner, op), current.depth-1
		default:
			current.unlock, open[slot] = op, nil
		}
	}
	return holds
}

// lostBefore reports whether a signal of loss ended a hold before its client was granted the lock
// again.
func lostBefore(history lin.History, h *hold, again lin.Op) bool {
	n, lost := signalTo(history, h)
	return lost && n.Step < again.Return
}

// holdsToken reports whether a client has an open hold with a token, or without one, such as a
// writer that also reads.
func holdsToken(holds []*hold, token int64) bool {
	return slices.ContainsFunc(holds, func(h *hold) bool {
		return h.lock.Token == token && h.unlock == nil
	})
}
