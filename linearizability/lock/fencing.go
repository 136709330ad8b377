package lock

import (
	"cmp"
	"fmt"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// judgeFencing checks that the token of every grant is that of its znode, and greater than the
// tokens of the conflicting grants before it.
func judgeFencing(t table) lin.Verdict {
	grants, greatest := grantsOf(t.holds), int64(0)
	for i, b := range grants {
		if why := wrongToken(t, b); why != "" {
			return judging.Violated(lin.Fencing, []int64{b.granted()}, "%s was granted the %s at step %d %s",
				b.lock.Client, t.kind.noun, b.granted(), why)
		}
		if b.lock.Token > greatest {
			greatest = b.lock.Token
			continue
		}
		a := greatestToken(grants[:i], b, t.kind)
		if a == nil || b.lock.Token > a.lock.Token || b.lock.Token == 0 ||
			b.again && b.lock.Token == a.lock.Token {
			continue
		}
		if a.lock.Token == b.lock.Token {
			return judging.Violated(lin.Fencing, []int64{a.granted(), b.granted()},
				"%s was granted the %s at step %d with token %d, and %s with the equal token at "+
					"step %d%s: no resource can tell the two grants apart",
				a.lock.Client, t.kind.noun, a.granted(), a.lock.Token, b.lock.Client, b.granted(),
				livedOn(a))
		}
		return judging.Violated(lin.Fencing, []int64{a.granted(), b.granted()},
			"%s was granted the %s at step %d with token %d, but %s had token %d before it, "+
				"at step %d: a resource that checks tokens turns %s away",
			b.lock.Client, t.kind.noun, b.granted(), b.lock.Token, a.lock.Client, a.lock.Token,
			a.granted(), b.lock.Client)
	}
	return judging.Fine(lin.Fencing, "tokens grow with every grant")
}

// outlivedUnlock reports whether the unlock of a hold has not deleted its znode.
func outlivedUnlock(h *hold) bool {
	return h.node != nil && h.unlock != nil && h.node.Deleted > judging.End(*h.unlock)
}

// livedOn says that the unlock of a hold has not deleted its znode.
func livedOn(h *hold) string {
	if !outlivedUnlock(h) {
		return ""
	}
	return fmt.Sprintf(", because %s lived on after %s", h.node.Path, judging.Describe(*h.unlock))
}

// wrongToken describes the mistake in the token of a grant, or returns "". If tokens are czxids,
// the token must be that of the znode, and it must not be missing if grants of the same kind have
// tokens. A hold that was lost before the client could ask for its token may have none.
func wrongToken(t table, h *hold) string {
	switch {
	case h.node == nil || h.second || t.nodes.opaque || h.lock.Token == h.node.Czxid:
		return ""
	case h.lock.Token != 0:
		return fmt.Sprintf("with token %d, which is not the czxid of its znode %s (%d)",
			h.lock.Token, h.node.Path, h.node.Czxid)
	case t.kind.counted || lostBeforeReturn(t.history, h):
		return ""
	}
	other := slices.IndexFunc(t.holds, func(o *hold) bool {
		return o.lock.Token != 0 && t.kind.slot(o.lock) == t.kind.slot(h.lock)
	})
	if other < 0 {
		return ""
	}
	return fmt.Sprintf("without a token, though %s had one at step %d: "+
		"a resource that checks tokens turns it away",
		t.holds[other].lock.Client, t.holds[other].granted())
}

// lostBeforeReturn reports whether a hold ended before its lock returned, or its client learned of
// a loss or closed the object by then.
func lostBeforeReturn(history lin.History, h *hold) bool {
	n, noticed := judging.FirstNotice(history, h.lock.Client, h.lock.Call, lin.SessionExpired,
		lin.LockLost)
	return h.serverEnd <= h.lock.Return || noticed && n.Time <= h.lock.ReturnTime ||
		slices.ContainsFunc(history.Ops, func(op lin.Op) bool {
			return op.Kind == ops.Close && op.Client == h.lock.Client &&
				op.Call <= h.lock.Return && judging.End(op) >= h.lock.Call
		})
}

// greatestToken returns the grant with the greatest token of those that conflict with b, or nil.
// Two holds of one owner are no conflict.
func greatestToken(grants []*hold, b *hold, kind kind) *hold {
	var top *hold
	for _, a := range grants {
		if a.lock.Token == 0 || !kind.conflicts(a.lock, b.lock) ||
			kind.named && !kind.differ(a, b) {
			continue
		}
		if top == nil || a.lock.Token > top.lock.Token {
			top = a
		}
	}
	return top
}

// grantsOf returns the holds in the order in which the lock was granted, as far as that is known.
func grantsOf(holds []*hold) []*hold {
	var list []*hold
	for _, h := range holds {
		if h.ending != unknownEnd {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b *hold) int {
		return cmp.Compare(a.granted(), b.granted())
	})
	return list
}

// changedToken looks for a hold whose token changed while it lasted, as an [ops.Use] shows that has
// read one.
func changedToken(t table) (v lin.Verdict, bad bool) {
	for _, op := range t.history.Ops {
		h := t.usedBy(op)
		if h == nil || h.lock.Token == 0 || op.Token == 0 || op.Token == h.lock.Token {
			continue
		}
		return judging.Violated(lin.Fencing, []int64{h.granted(), op.Return},
			"%s was granted the %s at step %d with token %d, but reads token %d at step %d",
			op.Client, t.kind.noun, h.granted(), h.lock.Token, op.Token, op.Return), true
	}
	return lin.Verdict{}, false
}

// usedBy returns the hold whose token a call reads, or nil.
func (t table) usedBy(op lin.Op) *hold {
	if op.Kind != ops.Use || !op.OK() {
		return nil
	}
	for _, h := range t.holds {
		if h.lock.Client == op.Client && t.kind.slot(h.lock) == t.kind.slot(op) &&
			h.whyNotOwner == "" && h.lock.Return < op.Call && op.Return < h.heldUntil() &&
			(h.unlock == nil || op.Return < h.unlock.Call) {
			return h
		}
	}
	return nil
}
