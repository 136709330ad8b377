package carry

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
)

// IsApart reports whether the others have elected a leader without a server, which does not know.
func (n *Servers) IsApart(server int) bool { return n.apart[server] }

// LeaveUnaware lets the servers be apart that do not notice an election which begins now, and lists
// them. The leader among them believes to lead.
func (n *Servers) LeaveUnaware(now time.Duration) (left []int) {
	for server := range n.ensemble.Servers {
		if n.apart[server] || n.isStopped(server) || !n.isUnaware(server, now) {
			continue
		}
		n.apart[server] = true
		if server == n.ensemble.Leader() {
			n.depose(server, now)
		}
		left = append(left, server)
	}
	return left
}

// Electable lists the servers that can be elected for a time. If there are only servers that are
// apart until then, these are to be taken down before: they join the others earlier than they would
// notice.
func (n *Servers) Electable(at, now time.Duration) (up, joining []int) {
	for server := range n.ensemble.Servers {
		switch {
		case n.isStopped(server) || n.AwayUntil(server, now) > at:
		case n.apart[server]:
			joining = append(joining, server)
		default:
			up = append(up, server)
		}
	}
	if len(up) > 0 {
		return up, nil
	}
	marks.Hit("all are apart")
	return joining, joining
}

// QuorumAt is when a majority of the servers is together.
func (n *Servers) QuorumAt(now time.Duration) time.Duration {
	return n.majorityAt(now, n.AwayUntil)
}

// LacksQuorum reports whether the servers notice that they are no majority.
func (n *Servers) LacksQuorum(now time.Duration) bool {
	return n.majorityAt(now, n.MissedUntil) > now
}

// majorityAt is when a majority of the servers is back, each of which is away until a time. At
// least a majority is not stopped.
func (n *Servers) majorityAt(
	now time.Duration, awayUntil func(server int, now time.Duration) time.Duration,
) time.Duration {
	var back []time.Duration
	for server := range n.ensemble.Servers {
		if !n.isStopped(server) {
			back = append(back, max(now, awayUntil(server, now)))
		}
	}
	return slices.Sorted(slices.Values(back))[n.ensemble.Servers/2]
}
