package lock

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// stuckVerdict is the verdict on a stuck call. A directory is not to blame.
func stuckVerdict(t table, op lin.Op, left *lin.Leftovers) lin.Verdict {
	v := judging.AroundLost(t.log, op,
		judging.Violated(lin.Liveness, []int64{op.Call}, "%s", whyStuck(t, op, left)))
	w, _ := judging.WaitOf(left, op.Client)
	n, exists := keeper(t, op, left, w.Path)
	if exists && (n.Owner != 0 || n.Path != t.claims.Path && !judging.HasChild(left, n.Path)) {
		v.Znode = n.Path
	}
	return v
}

// whyStuck describes a stuck call: its client, the znode that keeps it, and the owner of that.
func whyStuck(t table, op lin.Op, left *lin.Leftovers) string {
	w, known := judging.WaitOf(left, op.Client)
	switch {
	case !known:
		return fmt.Sprintf("%s never returned, although the faults stopped", judging.Describe(op))
	case w.Path == "":
		return fmt.Sprintf("%s never returned, and waits for %s%s", judging.Describe(op),
			cmp.Or(w.Why, "no znode"), judging.AfterLast(w))
	}
	n, exists := keeper(t, op, left, w.Path)
	does, often := "waits for", ""
	switch {
	case w.Refused != "":
		does, often = "gets no further because of", fmt.Sprintf(" (%s, %d times so far),", w.Refused,
			w.Polls)
	case w.Polls > 0:
		does, often = "polls", fmt.Sprintf(", %d times so far,", w.Polls)
	}
	switch {
	case exists && n.Path != w.Path && isPartOfCall(t, n, op):
		return fmt.Sprintf("client %s %s a change of %s%s although its own znode %s is the oldest "+
			"there", op.Client, does, w.Path, cmp.Or(often, ","), n.Path)
	case exists && (n.Path != w.Path || !judging.IsDirectory(t.log, left, n)):
		return fmt.Sprintf("client %s %s %s%s which %s", op.Client, does, n.Path, cmp.Or(often, ","),
			blame(t, n, op, left, op.Client))
	case exists:
		if child, ok := judging.FirstChild(left, w.Path, op.Client); ok {
			return fmt.Sprintf("client %s %s %s%s which %s", op.Client, does, child.Path,
				cmp.Or(often, ","), blame(t, child, op, left, op.Client))
		}
		lost, _ := judging.LostPlace(t.log, op)
		why := ""
		if lost == "" && n.Path != t.claims.Path {
			why = " and " + blame(t, n, op, left)
		}
		return fmt.Sprintf("client %s %s %s%s which has no child%s", op.Client, does, w.Path,
			cmp.Or(often, ","), why)
	case w.Polls > 0:
		return fmt.Sprintf("client %s %s %s%s which %s, and %s never returned", op.Client, does,
			w.Path, often, judging.WhyMissing(t.log, w.Path), judging.Describe(op))
	}
	in := ""
	for _, z := range t.log.Znodes {
		if z.Path == w.Path {
			in = strings.TrimSuffix(inCall(t.history, z), ",")
		}
	}
	return fmt.Sprintf("client %s waits for %s, which %s%s: %s", op.Client, w.Path,
		judging.WhyMissing(t.log, w.Path), in,
		cmp.Or(w.Why, "it missed the delete and nothing will wake it"))
}

// keeper is the znode that keeps a call which waits for the one at a path: of a directory the
// oldest child that nobody knows of, or the oldest of a holder, or the oldest of a waiter.
func keeper(t table, op lin.Op, left *lin.Leftovers, at string) (lin.NodeAtRest, bool) {
	n, exists := judging.NodeAt(left, at)
	if !exists || n.Owner != 0 {
		return n, exists
	}
	best, rank := n, -1
	for _, child := range left.Nodes {
		if path.Dir(child.Path) != at || child.Path == at || child.Owner == 0 {
			continue
		}
		r := 2
		switch {
		case isPartOfCall(t, child, op) || isWaiting(t, child, op.Client):
			r = 0
		case isHeld(t, child):
			r = 1
		}
		if r > rank || r == rank && child.Czxid < best.Czxid {
			best, rank = child, r
		}
	}
	return best, true
}

// isPartOfCall reports whether a call made the znode, and needs it.
func isPartOfCall(t table, n lin.NodeAtRest, op lin.Op) bool {
	z := t.log.MadeAt(n)
	return z != nil && t.nodes.isPartOf(z, op)
}

// blame names the owner of a znode, and the client that could delete it. If the owner is waiting,
// too, it goes on to the znode for which that one waits, unless it is one of the waiters so far.
func blame(
	t table, n lin.NodeAtRest, waiting lin.Op, left *lin.Leftovers, waiters ...string,
) string {
	client := judging.OwnerClient(t.log, n)
	owner := judging.SessionOf(n.Owner, client)
	switch {
	case n.Owner == 0:
		return fmt.Sprintf("is persistent and %s: no session's end will delete it",
			leftBy(t, n))
	case isPartOfCall(t, n, waiting):
		return fmt.Sprintf("belongs to %s: %s itself made it, and so waits for its own znode", owner,
			judging.Describe(waiting))
	case client == waiting.Client:
		return fmt.Sprintf("belongs to %s's own %s and %s%s: %s takes it for another's, and "+
			"nobody will delete it", client, judging.Session(n.Owner), leftBy(t, n),
			judging.LostDelete(n), client)
	case isGone(t.log, n.Owner, left):
		return fmt.Sprintf(
			"belongs to %s; that session has ended, but the znode is still there", owner,
		)
	case isHeld(t, n):
		return fmt.Sprintf("belongs to %s, who holds the %s through it", owner, t.kind.noun)
	case isWaiting(t, n, waiting.Client):
		return fmt.Sprintf("belongs to %s, who is waiting too%s", owner,
			onwards(t, client, left, waiters))
	}
	return fmt.Sprintf("belongs to %s and %s%s: %s does not know of it, "+
		"and nobody will delete it", owner, leftBy(t, n), judging.LostDelete(n),
		cmp.Or(client, "its owner"))
}

// mostWaiters is the length of the longest chain of waiters that is told.
const mostWaiters = 4

// onwards says for which znode another waiter waits.
func onwards(t table, client string, left *lin.Leftovers, waiters []string) string {
	switch w, known := judging.WaitOf(left, client); {
	case slices.Contains(waiters, client):
		return ": a circle, and nobody in it goes on"
	case known && len(waiters) < mostWaiters:
		for _, op := range judging.PendingOps(t.history, t.kind.acquire) {
			if n, exists := keeper(t, op, left, w.Path); exists && op.Client == client {
				return fmt.Sprintf(", for %s, which %s", n.Path,
					blame(t, n, op, left, append(waiters, client)...))
			}
		}
	}
	return ""
}

// leftBy names the call in which the znode was made.
func leftBy(t table, n lin.NodeAtRest) string {
	z := t.log.MadeAt(n)
	op := judging.MakerOf(t.history, z)
	if op != nil && op.Pending() && !t.nodes.isPartOf(z, *op) && waitsAlone(t, op.Client) {
		return fmt.Sprintf("was left by %s's %s (first attempt, create at step %d)", op.Client, op.Kind,
			z.Created)
	}
	text := judging.MadeBy(t.history, t.log, n, "left")
	for _, h := range t.holds { // the mistake is in the release, not in the call that made it
		if z != nil && h.node == z && outlivedUnlock(h) && !h.unlock.Pending() {
			return text + ", and lived on after " + judging.Describe(*h.unlock)
		}
	}
	return text
}

// waitsAlone reports whether one call of a client waits. Of several goroutines one may have made
// the znode that another one's attempt seems to have left.
func waitsAlone(t table, client string) bool {
	waits := 0
	for _, op := range judging.PendingOps(t.history, t.kind.acquire) {
		if op.Client == client {
			waits++
		}
	}
	return waits < 2
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
