package linearizability

import (
	"cmp"
	"fmt"
	"path"
)

// pendingOps returns the operations that never returned, of the given kinds.
func (h History) pendingOps(kinds ...string) []Op {
	var list []Op
	for _, op := range h.Ops {
		for _, kind := range kinds {
			if op.Kind == kind && op.pending() {
				list = append(list, op)
			}
		}
	}
	return list
}

// judgeLiveness asks of every call still pending at rest whether it should be.
// A lock may wait for a holder that has not released; nothing else may.
func (c *lockCase) judgeLiveness(rest *Leftovers) []Verdict {
	stuck := c.history.pendingOps(c.kind.acquire, c.kind.release)
	if rest == nil {
		return unsettled(stuck)
	}
	for _, op := range stuck {
		if op.Kind == c.kind.acquire && c.holderAtRest(op) != nil && c.rightToWait(op, rest) {
			continue
		}
		return []Verdict{violated(Liveness, []int64{op.Call}, "%s", c.whyStuck(op, rest))}
	}
	if len(rest.Wedged) > 0 {
		return []Verdict{violated(Liveness, nil, "wedged: %s", rest.Wedged[0])}
	}
	if len(stuck) > 0 {
		h := c.holderAtRest(stuck[0])
		return []Verdict{fine(Liveness, "%s, for %s holds the %s and has not released it", count(len(stuck), "call")+" still waiting", h.lock.Client, c.kind.noun)}
	}
	return []Verdict{fine(Liveness, "every call returned")}
}

// unsettled is all that can be said of liveness if the world was not brought to
// rest.
func unsettled(stuck []Op) []Verdict {
	if len(stuck) == 0 {
		return nil
	}
	op := stuck[0]
	return []Verdict{unknown(Liveness, []int64{op.Call},
		"%s never returned, and it is not known whether it was given the time to", describe(op))}
}

// holderAtRest returns a hold of another client that goes on for ever, rightly,
// and for which a pending operation has to wait, if all places are taken so.
func (c *lockCase) holderAtRest(op Op) *hold {
	var other *hold
	taken := 0
	for _, h := range c.holds {
		if h.phantom != "" || h.unlock != nil || h.standing() <= c.history.End || !c.blocks(h, op) {
			continue
		}
		if h.lock.Client != op.Client {
			other, taken = cmp.Or(other, h), taken+1
		} else if c.kind.counted {
			taken++
		}
	}
	if taken < c.kind.capacity {
		return nil
	}
	return other
}

// blocks reports whether the operation has to wait for the hold, or for a third
// client that does: a reader waits behind a writer who waits for readers.
func (c *lockCase) blocks(h *hold, op Op) bool {
	if c.kind.conflicts(h.lock, op) {
		return true
	}
	for _, between := range c.history.pendingOps(c.kind.acquire) {
		if between.Client != op.Client && c.kind.conflicts(between, op) && c.kind.conflicts(h.lock, between) {
			return true
		}
	}
	return false
}

// rightToWait reports whether what the call waits for is there and is not
// somebody's forgotten znode.
func (c *lockCase) rightToWait(op Op, rest *Leftovers) bool {
	w, known := rest.wait(op.Client)
	if !known || w.Path == "" {
		return !known
	}
	n, there := rest.node(w.Path)
	return there && (c.isHeld(n) || c.isWaiting(n, op.Client) || c.holdsBelow(n.Path))
}

// holdsBelow reports whether the znode is the directory of one through which the
// lock is held: who waits for that sees every release.
func (c *lockCase) holdsBelow(dir string) bool {
	for _, h := range c.holds {
		if h.unlock == nil && h.node != nil && path.Dir(h.node.path) == dir {
			return true
		}
	}
	return false
}

func (c *lockCase) isHeld(n NodeAtRest) bool {
	for _, h := range c.holds {
		if h.unlock == nil && (h.node != nil && h.node.czxid == n.Czxid || c.token(h.lock) != 0 && c.token(h.lock) == n.Czxid) {
			return true
		}
	}
	return false
}

// isWaiting reports whether the znode is the newest one, in its directory, of a
// pending lock of somebody else than the client. Without a server log it is by its
// owner's name.
func (c *lockCase) isWaiting(n NodeAtRest, client string) bool {
	for _, op := range c.history.pendingOps(c.kind.acquire) {
		if op.Client == client {
			continue
		}
		if !c.log.known && n.OwnerClient == op.Client {
			return true
		}
		for _, l := range c.log.lives {
			if l.czxid == n.Czxid && l.path == n.Path && c.isPartOf(l, op) {
				return true
			}
		}
	}
	return false
}

// whyStuck says who waits for what, and which znode is to blame.
func (c *lockCase) whyStuck(op Op, rest *Leftovers) string {
	w, known := rest.wait(op.Client)
	switch {
	case !known:
		return fmt.Sprintf("%s never returned, although the faults stopped", describe(op))
	case w.Path == "" && w.Why != "":
		return fmt.Sprintf("%s never returned: it waits for %s", describe(op), w.Why)
	case w.Path == "":
		return fmt.Sprintf("%s never returned, and waits for no znode", describe(op))
	}
	n, there := rest.node(w.Path)
	if !there {
		return fmt.Sprintf("client %s waits for %s, which does not exist: it missed the delete and nothing will wake it", op.Client, w.Path)
	}
	return fmt.Sprintf("client %s waits for %s, %s", op.Client, w.Path, c.blame(n, op, rest))
}

// blame says whose the znode is and who could delete it.
func (c *lockCase) blame(n NodeAtRest, waiting Op, rest *Leftovers) string {
	owner := c.ownerName(n)
	origin := c.origin(n)
	switch {
	case n.Owner == 0:
		return "which is persistent: no session's end will delete it"
	case owner == waiting.Client:
		return fmt.Sprintf("which belongs to %s's own %s and was left by %s: nobody will delete it", owner, session(n.Owner), origin)
	case c.isGone(n.Owner, rest):
		return fmt.Sprintf("which belongs to %s%s; that session has ended, but the znode is still there", session(n.Owner), of(owner))
	case c.isHeld(n):
		return fmt.Sprintf("which belongs to %s%s, who holds the %s through it", session(n.Owner), of(owner), c.kind.noun)
	case c.isWaiting(n, waiting.Client):
		return fmt.Sprintf("which belongs to %s%s, who is waiting too", session(n.Owner), of(owner))
	}
	return fmt.Sprintf("which belongs to %s%s and was left by %s: %s does not know of it, and nobody will delete it",
		session(n.Owner), of(owner), origin, ownerOr(owner, "its owner"))
}

func (c *lockCase) ownerName(n NodeAtRest) string {
	if n.OwnerClient != "" {
		return n.OwnerClient
	}
	return c.log.clients[n.Owner]
}

// origin says in which call the znode was made.
func (c *lockCase) origin(n NodeAtRest) string {
	for _, l := range c.log.lives {
		if l.path != n.Path || l.czxid != n.Czxid && n.Czxid != 0 {
			continue
		}
		for _, op := range c.history.Ops {
			if op.Client != l.creator || op.Call > l.born || op.end() < l.born {
				continue
			}
			if op.pending() && !c.isPartOf(l, op) {
				return fmt.Sprintf("the first attempt of its own %s (create at step %d)", op.Kind, l.born)
			}
			return describe(op)
		}
		return fmt.Sprintf("a create at step %d", l.born)
	}
	return "an earlier attempt"
}

func (c *lockCase) isGone(id int64, rest *Leftovers) bool {
	if end, _ := c.log.sessionEnd(id); end != never {
		return true
	}
	for _, s := range rest.Sessions {
		if s.ID == id {
			return false
		}
	}
	return len(rest.Sessions) > 0
}

func of(client string) string {
	if client == "" {
		return ""
	}
	return " of client " + client
}

func ownerOr(client, other string) string {
	if client == "" {
		return other
	}
	return client
}
