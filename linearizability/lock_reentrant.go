package linearizability

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// ReentrantLock claims to be a [Lock] that its holder may lock again, and that is free after the
// same number of unlocks. A lock granted to its holder continues the hold if the tokens are equal
// or, without tokens, the sessions.
//
// Safety is also violated if an inner unlock releases the lock, and if a lost hold is granted again
// to a client that had learned of the loss.
type ReentrantLock Lock

func (claims ReentrantLock) judge(h History, left *Leftovers) Report {
	return judgeNestedLock(newLockTable(h, reentrantLock, Lock(claims)), left)
}

var reentrantLock = lockKind{
	noun: "lock", object: "re-entrant lock", acquire: ops.Lock, release: ops.Unlock, capacity: 1,
	reentrant: true,
	model: newLockModel(sequential[model.ReentrantLock, model.LockOp]{
		step: model.ReentrantLock.Step, show: showReentrant,
	}),
}

func showReentrant(l model.ReentrantLock) string {
	if l.Count == 0 {
		return "free"
	}
	return fmt.Sprintf("held by %s %s, token %d", l.Holder.Client, count(l.Count, "time"), l.Token)
}

// judgeNestedLock judges a lock that may be locked again.
func judgeNestedLock(t lockTable, left *Leftovers) Report {
	r := judgeLock(t, left)
	for _, look := range []func(lockTable) (Verdict, bool){releasedEarly, grantedAfterLoss} {
		if v, bad := look(t); bad && r.Verdicts[0].Status != Violated {
			Replace(&r, v)
		}
	}
	return r
}

// grantedAfterLoss looks for a further lock of a hold that was over, granted after its client had
// learned of the loss.
func grantedAfterLoss(t lockTable) (v Verdict, bad bool) {
	for _, h := range t.holds {
		if h.ending != takenAway {
			continue
		}
		n, noticed := FirstNotice(t.history, h.lock.Client, h.serverEnd, SessionExpired, LockLost)
		if !noticed {
			continue
		}
		for _, op := range h.inner {
			if op.Kind == t.kind.acquire && op.Call > n.Step {
				return violated(Safety, []int64{h.lock.Return, n.Step, op.Return},
					"client %s was granted the %s again at step %d (token %d), but that hold was "+
						"over at step %d, and the client was told so (%s) at step %d",
					op.Client, t.kind.noun, op.Return, op.Token, h.serverEnd, n.Kind, n.Step), true
			}
		}
	}
	return Verdict{}, false
}

// releasedEarly looks for a hold with a znode that its own client deleted before it called the last
// unlock.
func releasedEarly(t lockTable) (v Verdict, bad bool) {
	for _, h := range t.holds {
		z := h.node
		if z == nil || len(h.inner) == 0 || !z.removedBy(h.owner.Client, h.owner.Session) ||
			h.unlock != nil && h.unlock.Call <= z.deleted {
			continue
		}
		n, noticed := FirstNotice(t.history, h.lock.Client, h.lock.Return, SessionExpired, LockLost)
		if noticed && n.Step <= z.deleted && !signalledByUnlock(t, h, n) {
			continue
		}
		return violated(Safety, []int64{h.lock.Return, z.deleted},
			"%s gave the lock up at step %d (%s), before its last unlock: "+
				"it had locked %s since step %d",
			h.lock.Client, z.deleted, z.path, count(h.deepest(), "time"), h.lock.Return), true
	}
	return Verdict{}, false
}

// signalledByUnlock reports whether an inner unlock caused the signal of loss: the signal comes
// during the unlock, without an earlier loss of connection or session.
func signalledByUnlock(t lockTable, h *hold, signal Notice) bool {
	n, excused := FirstNotice(t.history, h.lock.Client, h.lock.Return, Disconnected, SessionExpired)
	if excused && n.Step <= signal.Step {
		return false
	}
	return slices.ContainsFunc(h.inner, func(op *Op) bool {
		return op.Kind == t.kind.release && op.Call <= signal.Step && signal.Step <= End(*op)
	})
}

// deepest is the greatest number of locks of the hold without their unlocks.
func (h *hold) deepest() int {
	depth, deepest := 1, 1
	for _, op := range h.inner {
		if op.Kind == h.lock.Kind {
			depth++
		} else {
			depth--
		}
		deepest = max(deepest, depth)
	}
	return deepest
}

// innerEvents are the locks and unlocks within a hold. Those called after the server revoked the
// lock are left out: their client cannot know yet.
func innerEvents(t lockTable, h *hold) []event[model.LockOp] {
	var list []event[model.LockOp]
	for _, op := range h.inner {
		if op.Call >= h.serverEnd {
			continue
		}
		e := innerEvent(t, h, op, op.Kind+"() of several")
		if op.Kind == t.kind.acquire {
			e.op.Kind, e.op.Token, e.text = model.Acquire, op.Token, op.Kind+"() again"
		}
		list = append(list, e)
	}
	if h.unlock == nil || h.unlock.Kind != ops.Close || h.unlock.Call >= h.serverEnd {
		return list
	}
	// A close stands for all releases of a hold.
	e := innerEvent(t, h, h.unlock, "close() of several")
	return append(list, slices.Repeat([]event[model.LockOp]{e}, h.depth)...)
}

// innerEvent is a release that is not the last one of its hold.
func innerEvent(t lockTable, h *hold, op *Op, text string) event[model.LockOp] {
	e := event[model.LockOp]{
		op:   model.LockOp{Kind: model.Release, By: h.owner},
		call: op.Call, ret: min(End(*op), t.history.End+1), key: at(op.Call, phaseUnlock),
		lane: op.Client, text: text,
	}
	if !op.ok() {
		e.op.Outcome = model.Maybe
	}
	return e
}
