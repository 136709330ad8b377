package lock

import (
	"cmp"
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// isStolen reports whether the znode of a holder was deleted in another way than by the end of its
// session, and the holder had neither called unlock nor learned of a loss. A client that deletes a
// znode by name, or repeats a delete after a lost reply, may hit the znode of the next owner. The
// server itself deletes TTL nodes and containers: their owner's session lives on.
func isStolen(h *hold, history lin.History) bool {
	z := h.node
	switch {
	case z.Deleted == judging.Never || z.EndedWithSession():
		return false
	case h.unlock != nil && h.unlock.Call <= z.Deleted:
		return false
	}
	n, noticed := judging.FirstNotice(history, h.lock.Client, h.lock.Return, lin.SessionExpired,
		lin.LockLost)
	if noticed && n.Step <= z.Deleted {
		return false
	}
	shared := h.second && z.Created < h.lock.Call // a release of the other mode must leave it
	return !z.RemovedBy(h.owner.Client, h.owner.Session) || shared ||
		!otherCallAtDelete(h, history)
}

// otherCallAtDelete reports whether the holder had another call under way, or had called since the
// grant, when its znode was deleted: then that call may have been meant to delete it.
func otherCallAtDelete(h *hold, history lin.History) bool {
	for _, op := range history.Ops {
		if op.Client == h.lock.Client && op.Call != h.lock.Call && op.Call <= h.node.Deleted &&
			judging.End(op) >= h.lock.Return {
			return true
		}
	}
	return false
}

// stolenVerdict names the client that deleted the znode of a holder, and its call, or the server.
func stolenVerdict(h *hold, kind kind, history lin.History) lin.Verdict {
	holder, z := h.lock.Client, h.node
	by := z.RemovedByWhom()
	when := fmt.Sprintf("while %s held the %s", holder, kind.noun)
	if z.Deleted < h.lock.Return {
		when = fmt.Sprintf("before %s's %s returned", holder, h.lock.Kind)
	}
	what := fmt.Sprintf("%s deleted %s's znode %s", by, holder, z.Path)
	if by == holder {
		what = fmt.Sprintf("%s deleted its own znode %s", by, z.Path)
	}
	if z.RemovedByServer() {
		what = fmt.Sprintf("the server deleted %s's znode %s (%s), and not with a session,", holder,
			z.Path, cmp.Or(z.Why, "a TTL node or a container"))
	}
	return judging.Violated(lin.Safety, []int64{h.lock.Return, z.Deleted},
		"%s at step %d%s %s (granted at step %d, %s not called)",
		what, z.Deleted, inCall(history, z), when, h.lock.Return, kind.release)
}

// inCall names the only call of a client that was under way when it deleted a znode.
func inCall(history lin.History, z *judging.Znode) (text string) {
	calls := 0
	for _, op := range history.Ops {
		if z.Remover != "" && op.Client == z.Remover && op.Call <= z.Deleted &&
			z.Deleted <= judging.End(op) {
			calls++
			text = fmt.Sprintf(", in %s,", judging.Describe(op))
		}
	}
	if calls != 1 {
		return ""
	}
	return text
}
