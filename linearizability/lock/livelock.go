package lock

import (
	"fmt"
	"slices"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// fruitless is the number of znodes that clients may make, one after the other, for a lock that is
// free, without a grant and without a loss of a connection or session.
const fruitless = 100

// livelock looks for clients that make znodes again and again while the lock is free, none of them
// gets it, and none is paused.
func livelock(t table) (v lin.Verdict, bad bool) {
	stops := turningPoints(t)
	var row []*judging.Znode
	for _, z := range t.log.Znodes {
		if z.Owner == 0 || !judging.Within(t.nodes.holdDir, z.Path) {
			continue
		}
		if isHeldAt(t, z.Created) || judging.PausedAt(t.history, "", z.CreatedTime) || len(row) > 0 &&
			slices.ContainsFunc(stops, func(step int64) bool {
				return row[0].Created <= step && step <= z.Created
			}) {
			row = nil
			continue
		}
		if row = append(row, z); len(row) == fruitless {
			return judging.Violated(lin.Liveness, []int64{row[0].Created, z.Created},
				"livelock: from step %d to %d clients made %s for the %s, which was free, "+
					"and none of them was granted it: %s",
				row[0].Created, z.Created, judging.Count(len(row), "znode"), t.kind.noun, makers(row)), true
		}
	}
	return lin.Verdict{}, false
}

// turningPoints are the steps at which something other than an attempt happened: grants, ends of
// holds, calls that failed, and what clients learned of their connections and sessions. A call of
// lock that fails counts, because it informs its client, for instance that the sequence numbers are
// used up.
func turningPoints(t table) []int64 {
	var steps []int64
	for _, h := range t.holds {
		steps = append(steps, h.granted(), h.lock.Return, h.serverEnd)
	}
	for _, op := range t.history.Ops {
		if op.Kind == t.kind.acquire && !op.OK() && !op.Pending() {
			steps = append(steps, op.Return)
		}
	}
	for _, n := range t.history.Notices {
		steps = append(steps, n.Step)
	}
	return steps
}

func isHeldAt(t table, step int64) bool {
	return slices.ContainsFunc(t.holds, func(h *hold) bool {
		return h.granted() <= step && step < h.serverEnd
	})
}

// makers lists the clients with the number of znodes that each made.
func makers(list []*judging.Znode) string {
	made := map[string]int{}
	var clients []string
	for _, z := range list {
		if made[z.Creator]++; made[z.Creator] == 1 {
			clients = append(clients, z.Creator)
		}
	}
	slices.Sort(clients)
	for i, client := range clients {
		clients[i] = fmt.Sprintf("%s made %d", client, made[client])
	}
	return strings.Join(clients, ", ")
}
