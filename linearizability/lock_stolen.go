package linearizability

import "fmt"

// isSnatched reports whether a client's request deleted the znode of a holder
// that had neither called unlock nor been told of a loss. Nobody but the server,
// when the session ends, may take a lock away. Who deletes a znode by its name,
// or repeats such a delete because the reply was lost, may well hit the one of
// the next owner.
func (c *lockCase) isSnatched(h *hold) bool {
	l := h.node
	switch {
	case l.died == never || l.withSession || l.remover == "" && l.removerSession == 0:
		return false
	case h.unlock != nil && h.unlock.Call <= l.died:
		return false
	}
	if n, told := c.history.notice(h.lock.Client, h.lock.Return, SessionExpired, LockLost); told && n.Step <= l.died {
		return false
	}
	return !l.removedBy(h.owner.Client, h.owner.Session) || !c.busyAt(h)
}

// busyAt reports whether the holder had another call under way, or behind it,
// when its znode was deleted: then that call may have been meant to delete it.
func (c *lockCase) busyAt(h *hold) bool {
	for _, op := range c.history.Ops {
		if op.Client == h.lock.Client && op.Call != h.lock.Call && op.Call <= h.node.died && op.end() >= h.lock.Return {
			return true
		}
	}
	return false
}

// snatchedVerdict says who deleted the znode of a holder.
func (c *lockCase) snatchedVerdict(h *hold) Verdict {
	holder, l := h.lock.Client, h.node
	by := ownerOr(l.remover, session(l.removerSession))
	when := fmt.Sprintf("while %s held the %s", holder, c.kind.noun)
	if l.died < h.lock.Return {
		when = fmt.Sprintf("before %s's %s returned", holder, h.lock.Kind)
	}
	what := fmt.Sprintf("%s deleted %s's znode %s", by, holder, l.path)
	if by == holder {
		what = fmt.Sprintf("%s deleted its own znode %s", by, l.path)
	}
	return violated(Safety, []int64{h.lock.Return, l.died}, "%s at step %d %s (granted at step %d, %s not called)",
		what, l.died, when, h.lock.Return, c.kind.release)
}
