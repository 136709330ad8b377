package linearizability

// judgeSafety looks for two owners at once, for owners of nothing and for owners
// whose znode somebody deleted.
func (c *lockCase) judgeSafety() Verdict {
	for i, b := range c.holds {
		if b.phantom != "" {
			return violated(Safety, []int64{b.lock.Call, b.lock.Return},
				"client %s returned from lock at step %d without a znode of its own: %s", b.lock.Client, b.lock.Return, b.phantom)
		}
		if b.ending == snatched {
			return c.snatchedVerdict(b)
		}
		for _, a := range c.holds[:i] {
			if c.differs(a, b) && overlap(a.lock.Return, a.serverEnd, b.lock.Return, b.serverEnd) {
				return violated(Safety, []int64{a.lock.Return, b.lock.Return},
					"%s and %s own the lock at once: %s since step %d (%s), %s since step %d (%s)",
					a.lock.Client, b.lock.Client, a.lock.Client, a.lock.Return, through(a), b.lock.Client, b.lock.Return, through(b))
			}
		}
	}
	return fine(Safety, "%d grants, never two owners at once", len(c.holds))
}

// judgeBelief looks for two clients that believe they hold the lock at once,
// outside of the zombie windows, and for signals that are wrong or missing.
func (c *lockCase) judgeBelief() Verdict {
	for i, b := range c.holds {
		for _, a := range c.holds[:i] {
			if c.differs(a, b) && overlap(a.lock.Return, a.trueBelief(), b.lock.Return, b.trueBelief()) {
				return violated(Belief, []int64{a.lock.Return, b.lock.Return},
					"%s and %s both believe that they hold the lock at step %d: %s (%s) has held it since step %d, and nothing has ended that",
					a.lock.Client, b.lock.Client, b.lock.Return, a.lock.Client, through(a), a.lock.Return)
			}
		}
	}
	if v, bad := c.judgeSignals(); bad {
		return v
	}
	if zombies := len(c.zombieWindows()); zombies > 0 {
		return fine(Belief, "beliefs overlap at most inside %s", count(zombies, "zombie window"))
	}
	return fine(Belief, "no two beliefs overlap")
}

// differs reports whether two holds cannot be one: those of one client in one
// session may be a re-entrant lock.
func (c *lockCase) differs(a, b *hold) bool {
	return a.owner != b.owner && a.ending != perhaps && b.ending != perhaps
}

// overlap is about half-open intervals: who gets the lock in the very step in
// which another loses it does not overlap with it.
func overlap(from1, to1, from2, to2 int64) bool { return max(from1, from2) < min(to1, to2) }

// zombieWindows measures from the server's end of each hold to the end of the
// client's belief in it.
func (c *lockCase) zombieWindows() []ZombieWindow {
	var list []ZombieWindow
	for _, h := range c.holds {
		if h.ending != takenAway || h.phantom != "" {
			continue
		}
		from, fromTime := h.serverEnd, h.serverEndTime
		if from < h.lock.Return {
			from, fromTime = h.lock.Return, h.lock.ReturnTime
		}
		if from >= h.beliefEnd {
			continue
		}
		z := ZombieWindow{Client: h.lock.Client, Session: h.owner.Session, From: from,
			To: min(h.beliefEnd, c.history.End), Duration: max(0, h.beliefEndTime-fromTime)}
		if h.node != nil {
			z.Path = h.node.path
		}
		list = append(list, z)
	}
	return list
}

// through says through what a client holds a lock.
func through(h *hold) string {
	text := "session not known"
	if h.owner.Session != 0 {
		text = session(h.owner.Session)
	}
	if h.node != nil {
		text += ", " + h.node.path
	}
	return text
}
