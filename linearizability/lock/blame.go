package lock

import (
	"cmp"
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// stuckVerdict is the verdict on a stuck call. A directory is not to blame.
func stuckVerdict(t table, op lin.Op, left *lin.Leftovers) lin.Verdict {
	v := judging.Violated(lin.Liveness, []int64{op.Call}, "%s", whyStuck(t, op, left))
	w, _ := judging.WaitOf(left, op.Client)
	n, exists := judging.NodeAt(left, w.Path)
	if exists && (n.Owner != 0 || n.Path != t.claims.Path && !judging.HasChild(left, n.Path)) {
		v.Znode = n.Path
	}
	return v
}

// whyStuck describes a stuck call: its client, the watched znode, and the owner of that znode.
func whyStuck(t table, op lin.Op, left *lin.Leftovers) string {
	w, known := judging.WaitOf(left, op.Client)
	switch {
	case !known:
		return fmt.Sprintf("%s never returned, although the faults stopped", judging.Describe(op))
	case w.Path == "" && w.Why != "":
		return fmt.Sprintf("%s never returned: it waits for %s", judging.Describe(op), w.Why)
	case w.Path == "":
		return fmt.Sprintf("%s never returned, and waits for no znode", judging.Describe(op))
	}
	n, exists := judging.NodeAt(left, w.Path)
	switch {
	case w.Polls > 0 && !exists:
		return fmt.Sprintf("client %s polls %s, %d times so far; it does not exist, "+
			"and %s never returned", op.Client, w.Path, w.Polls, judging.Describe(op))
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
func blame(t table, n lin.NodeAtRest, waiting lin.Op, left *lin.Leftovers) string {
	client := ownerClient(t.log, n)
	owner := judging.SessionOf(n.Owner, client)
	switch {
	case n.Owner == 0:
		return "is persistent: no session's end will delete it"
	case client == waiting.Client:
		return fmt.Sprintf("belongs to %s's own %s and was left by %s%s: %s does not "+
			"know of it, and nobody will delete it", client, judging.Session(n.Owner), origin(t, n),
			judging.LostDelete(n), client)
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
		"and nobody will delete it", owner, origin(t, n), judging.LostDelete(n),
		cmp.Or(client, "its owner"))
}

// ownerClient returns the client of the session that owns the znode, if it is known.
func ownerClient(log judging.Log, n lin.NodeAtRest) string {
	return cmp.Or(n.OwnerClient, log.Clients[n.Owner])
}

// origin names the call in which the znode was made.
func origin(t table, n lin.NodeAtRest) string {
	for _, z := range t.log.Znodes {
		if z.Path != n.Path || z.Czxid != n.Czxid && n.Czxid != 0 {
			continue
		}
		for _, op := range t.history.Ops {
			if op.Client != z.Creator || op.Call > z.Created || judging.End(op) < z.Created {
				continue
			}
			if op.Pending() && !t.nodes.isPartOf(z, op) {
				return fmt.Sprintf("%s's %s (first attempt, create at step %d)", op.Client,
					op.Kind, z.Created)
			}
			return judging.Describe(op)
		}
		return fmt.Sprintf("a create at step %d", z.Created)
	}
	return "an earlier attempt"
}

// isGone reports whether a session has ended.
func isGone(log judging.Log, id int64, left *lin.Leftovers) bool {
	if end, _ := log.SessionEnd(id); end != judging.Never {
		return true
	}
	for _, s := range left.Sessions {
		if s.ID == id {
			return false
		}
	}
	return len(left.Sessions) > 0
}
