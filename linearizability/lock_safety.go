package linearizability

import "strconv"

// judgeSafety looks for two owners at once, for owners of nothing and for owners
// whose znode somebody deleted.
func (c *lockCase) judgeSafety() Verdict {
	for i, b := range c.holds {
		if b.phantom != "" {
			return violated(Safety, []int64{b.lock.Call, b.lock.Return},
				"client %s returned from %s at step %d without a znode of its own: %s", b.lock.Client, b.lock.Kind, b.lock.Return, b.phantom)
		}
		if b.ending == snatched {
			return c.snatchedVerdict(b)
		}
		if others := c.crowd(i, (*hold).serverEnds); others != nil {
			return c.tooMany(others, b)
		}
	}
	return fine(Safety, "%d grants, never %s owners at once", len(c.holds), oneMore(c.kind.capacity))
}

// judgeBelief looks for two clients that believe they hold the lock at once,
// outside of the zombie windows, and for signals that are wrong or missing.
func (c *lockCase) judgeBelief() Verdict {
	for i, b := range c.holds {
		if others := c.crowd(i, (*hold).trueBelief); others != nil {
			return c.tooManyBelieve(others, b)
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

// oneMore is a number in words, one greater than n.
func oneMore(n int) string {
	if n == 1 {
		return "two"
	}
	return strconv.Itoa(n + 1)
}
