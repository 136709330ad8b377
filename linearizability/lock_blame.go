package linearizability

import (
	"cmp"
	"fmt"
)

// stuckVerdict is the verdict on a stuck call. A directory is not to blame.
func stuckVerdict(t lockTable, op Op, left *Leftovers) Verdict {
	v := violated(Liveness, []int64{op.Call}, "%s", whyStuck(t, op, left))
	w, _ := WaitOf(left, op.Client)
	n, exists := NodeAt(left, w.Path)
	if exists && (n.Owner != 0 || n.Path != t.claims.Path && !HasChild(left, n.Path)) {
		v.Znode = n.Path
	}
	return v
}

// whyStuck describes a stuck call: its client, the watched znode, and the owner of that znode.
func whyStuck(t lockTable, op Op, left *Leftovers) string {
	w, known := WaitOf(left, op.Client)
	switch {
	case !known:
		return fmt.Sprintf("%s never returned, although the faults stopped", describe(op))
	case w.Path == "" && w.Why != "":
		return fmt.Sprintf("%s never returned: it waits for %s", describe(op), w.Why)
	case w.Path == "":
		return fmt.Sprintf("%s never returned, and waits for no znode", describe(op))
	}
	n, exists := NodeAt(left, w.Path)
	switch {
	case w.Polls > 0 && !exists:
		return fmt.Sprintf("client %s polls %s, %d times so far; it does not exist, "+
			"and %s never returned", op.Client, w.Path, w.Polls, describe(op))
	case w.Polls > 0:
		return fmt.Sprintf("client %s polls %s, %d times so far, which %s", op.Client, w.Path,
			w.Polls, blame(t, n, op, left))
	case !exists:
		return fmt.Sprintf("client %s waits for %s, which does not exist: "+
			"it missed the delete and nothing will wake it", op.Client, w.Path)
	}
	return fmt.Sprintf("client %s waits for %s, which %s", op.Client, w.Path, blame(t, n, op, left))
}

// blame names the owner of a znode, and the client that could delete it.
func blame(t lockTable, n NodeAtRest, waiting Op, left *Leftovers) string {
	client := ownerClient(t.log, n)
	owner := sessionOf(n.Owner, client)
	switch {
	case n.Owner == 0:
		return "is persistent: no session's end will delete it"
	case client == waiting.Client:
		return fmt.Sprintf("belongs to %s's own %s and was left by %s%s: %s does not "+
			"know of it, and nobody will delete it", client, session(n.Owner), origin(t, n),
			lostDelete(n), client)
	case isGone(t.log, n.Owner, left):
		return fmt.Sprintf(
			"belongs to %s; that session has ended, but the znode is still there", owner,
		)
	case isHeld(t, n):
		return fmt.Sprintf("belongs to %s, who holds the %s through it", owner, t.kind.noun)
	case isWaiting(t, n, waiting.Client):
		return fmt.Sprintf("belongs to %s, who is waiting too", owner)
	}
	return fmt.Sprintf("belongs to %s and was left by %s%s: %s does not know of it, "+
		"and nobody will delete it", owner, origin(t, n), lostDelete(n),
		cmp.Or(client, "its owner"))
}

// ownerClient returns the client of the session that owns the znode, if it is known.
func ownerClient(log serverLog, n NodeAtRest) string {
	return cmp.Or(n.OwnerClient, log.clients[n.Owner])
}

// origin names the call in which the znode was made.
func origin(t lockTable, n NodeAtRest) string {
	for _, z := range t.log.znodes {
		if z.path != n.Path || z.czxid != n.Czxid && n.Czxid != 0 {
			continue
		}
		for _, op := range t.history.Ops {
			if op.Client != z.creator || op.Call > z.created || End(op) < z.created {
				continue
			}
			if op.pending() && !t.nodes.isPartOf(z, op) {
				return fmt.Sprintf("%s's %s (first attempt, create at step %d)", op.Client,
					op.Kind, z.created)
			}
			return describe(op)
		}
		return fmt.Sprintf("a create at step %d", z.created)
	}
	return "an earlier attempt"
}

// isGone reports whether a session has ended.
func isGone(log serverLog, id int64, left *Leftovers) bool {
	if end, _ := log.sessionEnd(id); end != never {
		return true
	}
	for _, s := range left.Sessions {
		if s.ID == id {
			return false
		}
	}
	return len(left.Sessions) > 0
}
