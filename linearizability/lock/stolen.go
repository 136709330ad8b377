package lock

import (
	"cmp"
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// isStolen reports whether a client's request deleted the znode of a holder that had neither called
// unlock nor learned of a loss. Only the server may revoke a lock, at the end of the session. A
// client that deletes a znode by name, or repeats a delete after a lost reply, may hit the znode of
// the next owner.
func isStolen(h *hold, history lin.History) bool {
	z := h.node
	switch {
	case z.Deleted == judging.Never || z.WithSession || z.Remover == "" && z.RemoverSession == 0:
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

// stolenVerdict names the client that deleted the znode of a holder.
func stolenVerdict(h *hold, kind kind) lin.Verdict {
	holder, z := h.lock.Client, h.node
	by := cmp.Or(z.Remover, judging.Session(z.RemoverSession))
	when := fmt.Sprintf("while %s held the %s", holder, kind.noun)
	if z.Deleted < h.lock.Return {
		when = fmt.Sprintf("before %s's %s returned", holder, h.lock.Kind)
	}
	what := fmt.Sprintf("%s deleted %s's znode %s", by, holder, z.Path)
	if by == holder {
		what = fmt.Sprintf("%s deleted its own znode %s", by, z.Path)
	}
	return judging.Violated(lin.Safety, []int64{h.lock.Return, z.Deleted},
		"%s at step %d %s (granted at step %d, %s not called)",
		what, z.Deleted, when, h.lock.Return, kind.release)
}
