package lock

import (
	"cmp"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// table is one history of a lock of some kind, with values derived from it once. Each property
// is a function of the table.
type table struct {
	history lin.History
	log     judging.Log
	kind    kind
	claims  Claims
	nodes   holderNodes
	holds   []*hold // in the order of their returns
	waiters []waiter
}

// waiter is a call with a known znode that was granted the lock, or still waits.
type waiter struct {
	op      lin.Op
	node    *judging.Znode
	granted int64 // never, if it still waits
}

func newTable(h lin.History, kind kind, claims Claims) table {
	h = h.Sorted()
	if claims.TTL {
		h = withLifetimes(h, claims.Path)
	}
	t := table{history: h, log: judging.ReadLog(h.Server), kind: kind, claims: claims}
	t.nodes = newHolderNodes(h, t.log, kind, claims)
	t.holds = pairHolds(h, kind)
	for _, held := range t.holds {
		held.owner, held.node, held.whyNotOwner = t.nodes.ownerOf(held)
		held.believeTheLog()
		held.endAtServer(h, t.nodes)
		held.endBelief(h, claims)
	}
	slices.SortStableFunc(t.holds, func(a, b *hold) int {
		return cmp.Compare(a.lock.Return, b.lock.Return)
	})
	t.waiters = findWaiters(t)
	return t
}

// believeTheLog takes a release that failed for the one that ended the hold, if the holder's znode
// was deleted during the release.
func (h *hold) believeTheLog() {
	for _, op := range h.refused {
		if h.node != nil && op.Call <= h.node.Deleted && h.node.Deleted <= judging.End(*op) {
			h.unlock = op
			return
		}
	}
}

func findWaiters(t table) []waiter {
	var list []waiter
	for _, h := range t.holds {
		if h.node != nil {
			list = append(list, waiter{h.lock, h.node, h.granted()})
		}
	}
	for _, op := range judging.PendingOps(t.history, t.kind.acquire) {
		if z := t.nodes.newest(op); z != nil {
			list = append(list, waiter{op, z, judging.Never})
		}
	}
	return list
}

// holdsAtEnd reports whether the client was granted the lock and has not called unlock since.
func (t table) holdsAtEnd(client string) bool {
	holds := false
	for _, h := range t.holds {
		if h.lock.Client == client {
			holds = h.unlock == nil && h.whyNotOwner == ""
		}
	}
	return holds
}

// reported are the holds of a Report.
func (t table) reported() []lin.Hold {
	var list []lin.Hold
	for _, h := range t.holds {
		if h.whyNotOwner != "" {
			continue
		}
		after := t.history.End + 1
		r := lin.Hold{Client: h.lock.Client, Session: h.owner.Session, From: h.lock.Return,
			Held: min(h.serverEnd, after), Believed: min(h.beliefEnd, after)}
		if h.node != nil {
			r.Path = h.node.Path
		}
		list = append(list, r)
	}
	return list
}
