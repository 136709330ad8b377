package linearizability

import (
	"cmp"
	"slices"
)

// lockTable is one history of a lock of some kind, with values derived from it once. Each property
// is a function of the table.
type lockTable struct {
	history History
	log     serverLog
	kind    lockKind
	claims  Lock
	nodes   lockNodes
	holds   []*hold // in the order of their returns
	waiters []waiter
}

// waiter is a call with a known znode that was granted the lock, or still waits.
type waiter struct {
	op      Op
	node    *znode
	granted int64 // never, if it still waits
}

func newLockTable(h History, kind lockKind, claims Lock) lockTable {
	h = h.sorted()
	t := lockTable{history: h, log: readServer(h.Server), kind: kind, claims: claims}
	t.nodes = newLockNodes(h, t.log, kind, claims)
	t.holds = pairHolds(h.Ops, kind)
	for _, held := range t.holds {
		held.owner, held.node, held.whyNotOwner = t.nodes.ownerOf(held)
		held.endAtServer(h, t.log)
		held.endBelief(h, claims)
	}
	slices.SortStableFunc(t.holds, func(a, b *hold) int {
		return cmp.Compare(a.lock.Return, b.lock.Return)
	})
	t.waiters = findWaiters(t)
	return t
}

func findWaiters(t lockTable) []waiter {
	var list []waiter
	for _, h := range t.holds {
		if h.node != nil {
			list = append(list, waiter{h.lock, h.node, h.granted()})
		}
	}
	for _, op := range PendingOps(t.history, t.kind.acquire) {
		if z := t.nodes.newest(op); z != nil {
			list = append(list, waiter{op, z, never})
		}
	}
	return list
}

// holdsAtEnd reports whether the client was granted the lock and has not called unlock since.
func (t lockTable) holdsAtEnd(client string) bool {
	holds := false
	for _, h := range t.holds {
		if h.lock.Client == client {
			holds = h.unlock == nil && h.whyNotOwner == ""
		}
	}
	return holds
}

// reported are the holds of a Report.
func (t lockTable) reported() []Hold {
	var list []Hold
	for _, h := range t.holds {
		if h.whyNotOwner != "" {
			continue
		}
		after := t.history.End + 1
		r := Hold{Client: h.lock.Client, Session: h.owner.Session, From: h.lock.Return,
			Held: min(h.serverEnd, after), Believed: min(h.beliefEnd, after)}
		if h.node != nil {
			r.Path = h.node.path
		}
		list = append(list, r)
	}
	return list
}
