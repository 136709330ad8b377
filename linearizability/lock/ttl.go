package lock

import (
	"fmt"
	"slices"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// lifetime is the number of the first session that stands for the life of a TTL node. The czxid is
// added. No server gives such a number to a session.
const lifetime = 1 << 62

// withLifetimes is a history in which each TTL node of a lock is the ephemeral of a session of its
// own, which stands for its life: the holder keeps it alive by writes. That session ends when the
// server deletes the node because its TTL was over while the client could not write. If the client
// could, the delete is a theft by the server. The sessions of the clients say nothing of the lock.
func withLifetimes(h lin.History, dir string) lin.History {
	log := judging.ReadLog(h.Server)
	var server []lin.ServerEvent
	lives, written := map[string]*judging.Znode{}, map[string]time.Duration{} // by path
	for _, e := range h.Server {
		if e.Kind == lin.NodeCreated {
			lives[e.Path] = madeAt(log, e, dir)
		}
		z := lives[e.Path]
		switch {
		case z == nil:
		case e.Kind != lin.NodeDeleted:
			e.Owner, written[e.Path] = lifetime+z.Czxid, e.Time
		case e.Session != 0:
			e.Owner = lifetime + z.Czxid
		case couldNotWrite(h, z.Creator, written[e.Path], e.Time):
			e.Owner = lifetime + z.Czxid
			server = append(server, lin.ServerEvent{Step: e.Step, Time: e.Time,
				Kind: lin.SessionEnded, Owner: e.Owner, Client: z.Creator})
		default:
			e.Owner, e.Session = lifetime+z.Czxid, lifetime
			e.Client = fmt.Sprintf("the server (its TTL was over, though %s could write to it)",
				z.Creator)
		}
		server = append(server, e)
	}
	h.Server, h.Ops = server, slices.Clone(h.Ops)
	for i := range h.Ops {
		h.Ops[i].Session = 0
	}
	return h
}

// isTTLNode reports whether a znode is one of a lock with TTLs: it is no ephemeral, and no
// directory.
func isTTLNode(log judging.Log, z *judging.Znode, dir string) bool {
	return z.Owner == 0 && judging.Within(dir, z.Path) &&
		!slices.ContainsFunc(log.Znodes, func(other *judging.Znode) bool {
			return strings.HasPrefix(other.Path, z.Path+"/")
		})
}

// madeAt is the TTL node that an event has made, nil if it is none.
func madeAt(log judging.Log, e lin.ServerEvent, dir string) *judging.Znode {
	for _, z := range log.Znodes {
		if z.Path == e.Path && z.Created == e.Step && isTTLNode(log, z, dir) {
			return z
		}
	}
	return nil
}

// couldNotWrite reports whether a client was cut off from its servers, or waited for an answer, at
// some time of a span.
func couldNotWrite(h lin.History, client string, from, to time.Duration) bool {
	kinds := []lin.NoticeKind{lin.Disconnected, lin.SessionExpired, lin.Paused, lin.Unanswered}
	return judging.CutOff(h, client, from) || slices.ContainsFunc(h.Notices,
		func(n lin.Notice) bool {
			return n.Client == client && from <= n.Time && n.Time <= to &&
				judging.IsOneOf(n.Kind, kinds)
		})
}

// withoutLives are leftovers in which the TTL nodes of a lock are no orphans: the server will
// delete them.
func withoutLives(left *lin.Leftovers, dir string) *lin.Leftovers {
	if left == nil {
		return nil
	}
	rest := *left
	rest.Nodes = slices.Clone(left.Nodes)
	for i, n := range rest.Nodes {
		if n.Owner == 0 && judging.Within(dir, n.Path) && !judging.HasChild(left, n.Path) {
			rest.Nodes[i].Owner, rest.Nodes[i].OfDead = lifetime+n.Czxid, true
		}
	}
	return &rest
}
