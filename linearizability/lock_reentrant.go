package linearizability

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/model"
)

var reentrantLock = lockKind{
	noun: "lock", object: "re-entrant lock", acquire: KindLock, release: KindUnlock, capacity: 1, reentrant: true,
	model: newLockModel(object[model.ReentrantLock, model.LockOp]{step: model.ReentrantLock.Step, show: showReentrant}),
}

func showReentrant(l model.ReentrantLock) string {
	if l.Count == 0 {
		return "free"
	}
	return fmt.Sprintf("held by %s %s, token %d", l.Holder.Client, count(l.Count, "time"), l.Token)
}

// JudgeReentrantLock judges a lock that its holder may lock again, and that is
// free after as many unlocks, as [Lock] judges one that may not. A lock
// granted to a client that holds it already is the same hold if the tokens are
// the same, or, without tokens, the sessions.
//
// Besides, it is a violation of safety if a client's own unlock gives the lock up
// while another unlock is still due, and if a hold that was lost is granted again
// to a client that was told of that.
type ReentrantLock Lock

func (opts ReentrantLock) judge(h History, rest *Leftovers) Report {
	return newLockCase(h, reentrantLock, Lock(opts)).judgeNested(rest)
}

// judgeNested judges all that can be said of a lock that may be locked again.
func (c *lockCase) judgeNested(rest *Leftovers) Report {
	r := c.judgeHolds(rest)
	for _, look := range []func() (Verdict, bool){c.givenUpEarly, c.grantedAfterLoss} {
		if v, bad := look(); bad && r.Verdicts[0].Status != Violated {
			r.Verdicts[0] = v
		}
	}
	return r
}

// grantedAfterLoss looks for a client that was granted a further level of a hold
// that was over, when it had been told so.
func (c *lockCase) grantedAfterLoss() (Verdict, bool) {
	for _, h := range c.holds {
		if h.ending != takenAway {
			continue
		}
		n, told := c.history.notice(h.lock.Client, h.serverEnd, SessionExpired, LockLost)
		if !told {
			continue
		}
		for _, op := range h.inner {
			if op.Kind == c.kind.acquire && op.Call > n.Step {
				return violated(Safety, []int64{h.lock.Return, n.Step, op.Return},
					"client %s was granted the %s again at step %d (token %d), but that hold was over at step %d, and the client was told so (%s) at step %d",
					op.Client, c.kind.noun, op.Return, op.Token, h.serverEnd, n.Kind, n.Step), true
			}
		}
	}
	return Verdict{}, false
}

// givenUpEarly looks for a hold whose znode its own client deleted before the
// last of its unlocks was called.
func (c *lockCase) givenUpEarly() (Verdict, bool) {
	for _, h := range c.holds {
		l := h.node
		if l == nil || len(h.inner) == 0 || !l.removedBy(h.owner.Client, h.owner.Session) || h.unlock != nil && h.unlock.Call <= l.died {
			continue
		}
		if n, told := c.history.notice(h.lock.Client, h.lock.Return, SessionExpired, LockLost); told && n.Step <= l.died && !c.byUnlock(h, n) {
			continue
		}
		return violated(Safety, []int64{h.lock.Return, l.died},
			"%s gave the lock up at step %d (%s), before its last unlock: it had locked %s since step %d",
			h.lock.Client, l.died, l.path, count(h.deepest(), "time"), h.lock.Return), true
	}
	return Verdict{}, false
}

// byUnlock reports whether it is one of the inner unlocks that a client's signal of
// loss tells of: it comes during that, and no connection or session was lost before.
func (c *lockCase) byUnlock(h *hold, signal Notice) bool {
	if n, excused := c.history.notice(h.lock.Client, h.lock.Return, Disconnected, SessionExpired); excused && n.Step <= signal.Step {
		return false
	}
	return slices.ContainsFunc(h.inner, func(op *Op) bool {
		return op.Kind == c.kind.release && op.Call <= signal.Step && signal.Step <= op.end()
	})
}

// deepest is how many locks of the hold were not given back at once.
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

// innerEvents are the locks and unlocks within a hold. Those called after the
// server has taken the lock away are left out: their client cannot know yet.
func (c *lockCase) innerEvents(h *hold) []event[model.LockOp] {
	var list []event[model.LockOp]
	for _, op := range h.inner {
		if op.Call >= h.serverEnd {
			continue
		}
		e := event[model.LockOp]{
			op:   model.LockOp{Kind: model.Acquire, By: h.owner, Token: op.Token},
			call: op.Call, ret: min(op.end(), c.history.End+1), key: at(op.Call, phaseUnlock),
			lane: op.Client, text: op.Kind + "() again", note: note(*op),
		}
		if op.Kind == c.kind.release {
			e.op, e.text = model.LockOp{Kind: model.Release, By: h.owner}, op.Kind+"() of several"
		}
		if !op.ok() {
			e.op.Outcome = model.Maybe
		}
		list = append(list, e)
	}
	return append(list, c.closedLevels(h)...)
}

// closedLevels are the releases, but for the last, that a close stands for.
func (c *lockCase) closedLevels(h *hold) []event[model.LockOp] {
	if h.unlock == nil || h.unlock.Kind != KindClose || h.unlock.Call >= h.serverEnd {
		return nil
	}
	e := event[model.LockOp]{
		op:   model.LockOp{Kind: model.Release, By: h.owner},
		call: h.unlock.Call, ret: min(h.unlock.end(), c.history.End+1), key: at(h.unlock.Call, phaseUnlock),
		lane: h.unlock.Client, text: "close() of several", note: note(*h.unlock),
	}
	if !h.unlock.ok() {
		e.op.Outcome = model.Maybe
	}
	return slices.Repeat([]event[model.LockOp]{e}, h.depth)
}
