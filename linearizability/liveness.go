package linearizability

import "fmt"

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
func (c *lockCase) judgeLiveness(rest *Rest) []Verdict {
	stuck := c.history.pendingOps(KindLock, KindUnlock)
	if rest == nil {
		return unsettled(stuck)
	}
	for _, op := range stuck {
		if op.Kind == KindLock && c.holderAtRest(op.Client) != nil && c.rightToWait(op, rest) {
			continue
		}
		return []Verdict{violated(Liveness, []int64{op.Call}, "%s", c.whyStuck(op, rest))}
	}
	if len(rest.Wedged) > 0 {
		return []Verdict{violated(Liveness, nil, "wedged: %s", rest.Wedged[0])}
	}
	if len(stuck) > 0 {
		h := c.holderAtRest(stuck[0].Client)
		return []Verdict{fine(Liveness, "%s, for %s holds the lock and has not released it", count(len(stuck), "call")+" still waiting", h.lock.Client)}
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

// holderAtRest returns the hold of another client that goes on for ever, rightly.
func (c *lockCase) holderAtRest(client string) *hold {
	for _, h := range c.holds {
		if h.lock.Client != client && h.phantom == "" && h.unlock == nil && h.standing() > c.history.End {
			return h
		}
	}
	return nil
}

// rightToWait reports whether what the call waits for is there and is not
// somebody's forgotten znode.
func (c *lockCase) rightToWait(op Op, rest *Rest) bool {
	w, known := rest.wait(op.Client)
	if !known || w.Path == "" {
		return !known
	}
	n, there := rest.node(w.Path)
	return there && (c.isHeld(n) || c.isWaiting(n, op.Client))
}

func (c *lockCase) isHeld(n NodeAtRest) bool {
	for _, h := range c.holds {
		if h.unlock == nil && (h.node != nil && h.node.czxid == n.Czxid || c.token(h.lock) != 0 && c.token(h.lock) == n.Czxid) {
			return true
		}
	}
	return false
}

// isWaiting reports whether the znode is the newest one of a pending lock of
// somebody else than the client. Without a server log it is by its owner's name.
func (c *lockCase) isWaiting(n NodeAtRest, client string) bool {
	for _, op := range c.history.pendingOps(KindLock) {
		if op.Client == client {
			continue
		}
		if l := c.newestNodeOf(op); l != nil && l.czxid == n.Czxid || !c.log.known && n.OwnerClient == op.Client {
			return true
		}
	}
	return false
}

// whyStuck says who waits for what, and which znode is to blame.
func (c *lockCase) whyStuck(op Op, rest *Rest) string {
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
func (c *lockCase) blame(n NodeAtRest, waiting Op, rest *Rest) string {
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
		return fmt.Sprintf("which belongs to %s%s, who holds the lock through it", session(n.Owner), of(owner))
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
			if op.pending() && c.newestNodeOf(op) != l {
				return fmt.Sprintf("the first attempt of its own lock (create at step %d)", l.born)
			}
			return describe(op)
		}
		return fmt.Sprintf("a create at step %d", l.born)
	}
	return "an earlier attempt"
}

func (c *lockCase) isGone(id int64, rest *Rest) bool {
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
