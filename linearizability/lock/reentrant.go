package lock

import (
	"fmt"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// Reentrant claims to be a [Claims] that its holder may lock again, and that is free after the
// same number of unlocks. A lock granted to its holder continues the hold if the tokens are equal
// or, without tokens, the sessions.
//
// Safety is also violated if an inner unlock releases the lock, and if a lost hold is granted again
// to a client that had learned of the loss.
type Reentrant Claims

// Properties implements [lin.Claims].
func (claims Reentrant) Properties() []string {
	return Claims(claims).with()
}

// Judge implements [lin.Claims].
func (claims Reentrant) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return judgeNestedLock(newTable(h, reentrantLock, Claims(claims)), left)
}

var reentrantLock = kind{
	noun: "lock", object: "re-entrant lock", acquire: ops.Lock, release: ops.Unlock, capacity: 1,
	reentrant: true,
	model: newKindModel(judging.Model[model.ReentrantLock, model.LockOp]{
		Step: model.ReentrantLock.Step, Show: showReentrant,
	}),
}

func showReentrant(l model.ReentrantLock) string {
	if l.Count == 0 {
		return "free"
	}
	return fmt.Sprintf("held by %s %s, token %d", l.Holder.Client, judging.Count(l.Count, "time"), l.Token)
}

// judgeNestedLock judges a lock that may be locked again.
func judgeNestedLock(t table, left *lin.Leftovers) lin.Report {
	r := judge(t, left)
	for _, look := range []func(table) (lin.Verdict, bool){releasedEarly, grantedAfterLoss} {
		if v, bad := look(t); bad && r.Verdicts[0].Status != lin.Violated {
			judging.Replace(&r, v)
		}
	}
	return r
}

// grantedAfterLoss looks for a further lock of a hold that was over, granted after its client had
// learned of the loss.
func grantedAfterLoss(t table) (v lin.Verdict, bad bool) {
	for _, h := range t.holds {
		if h.ending != takenAway {
			continue
		}
		n, noticed := judging.FirstNotice(t.history, h.lock.Client, h.serverEnd, lin.SessionExpired,
			lin.LockLost)
		if !noticed {
			continue
		}
		for _, op := range h.inner {
			if op.Kind == t.kind.acquire && op.Call > n.Step {
				return judging.Violated(lin.Safety, []int64{h.lock.Return, n.Step, op.Return},
					"client %s was granted the %s again at step %d (token %d), but that hold was "+
						"over at step %d, and the client was told so (%s) at step %d",
					op.Client, t.kind.noun, op.Return, op.Token, h.serverEnd, n.Kind, n.Step), true
			}
		}
	}
	return lin.Verdict{}, false
}

// releasedEarly looks for a hold with a znode that its own client deleted before it called the last
// unlock.
func releasedEarly(t table) (v lin.Verdict, bad bool) {
	for _, h := range t.holds {
		z := h.node
		if z == nil || len(h.inner) == 0 || !z.RemovedBy(h.owner.Client, h.owner.Session) ||
			h.unlock != nil && h.unlock.Call <= z.Deleted {
			continue
		}
		n, noticed := judging.FirstNotice(t.history, h.lock.Client, h.lock.Return,
			lin.SessionExpired, lin.LockLost)
		if noticed && n.Step <= z.Deleted && !signalledByUnlock(t, h, n) {
			continue
		}
		return judging.Violated(lin.Safety, []int64{h.lock.Return, z.Deleted},
			"%s gave the lock up at step %d (%s), before its last unlock: "+
				"it had locked %s since step %d",
			h.lock.Client, z.Deleted, z.Path, judging.Count(h.deepest(), "time"), h.lock.Return), true
	}
	return lin.Verdict{}, false
}

// signalledByUnlock reports whether an inner unlock caused the signal of loss: the signal comes
// during the unlock, without an earlier loss of connection or session.
func signalledByUnlock(t table, h *hold, signal lin.Notice) bool {
	n, excused := judging.FirstNotice(t.history, h.lock.Client, h.lock.Return, lin.Disconnected,
		lin.SessionExpired)
	if excused && n.Step <= signal.Step {
		return false
	}
	return slices.ContainsFunc(h.inner, func(op *lin.Op) bool {
		return op.Kind == t.kind.release && op.Call <= signal.Step &&
			signal.Step <= judging.End(*op)
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
func innerEvents(t table, h *hold) []judging.Event[model.LockOp] {
	var list []judging.Event[model.LockOp]
	for _, op := range h.inner {
		if op.Call >= h.serverEnd {
			continue
		}
		e := innerEvent(t, h, op, op.Kind+"() of several")
		if op.Kind == t.kind.acquire {
			e.Op.Kind, e.Op.Token, e.Text = model.Acquire, op.Token, op.Kind+"() again"
		}
		list = append(list, e)
	}
	if h.unlock == nil || h.unlock.Kind != ops.Close || h.unlock.Call >= h.serverEnd {
		return list
	}
	// A close stands for all releases of a hold.
	e := innerEvent(t, h, h.unlock, "close() of several")
	return append(list, slices.Repeat([]judging.Event[model.LockOp]{e}, h.depth)...)
}

// innerEvent is a release that is not the last one of its hold.
func innerEvent(t table, h *hold, op *lin.Op, text string) judging.Event[model.LockOp] {
	e := judging.Event[model.LockOp]{
		Op:   model.LockOp{Kind: model.Release, By: h.owner},
		Call: op.Call, Return: min(judging.End(*op), t.history.End+1), Key: judging.Key(op.Call,
			phaseUnlock),
		Lane: op.Client, Text: text,
	}
	if !op.OK() {
		e.Op.Outcome = model.Maybe
	}
	return e
}
