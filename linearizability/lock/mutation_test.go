package lock

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestBrokenLocksAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomLock,
		func(h lin.History) lin.Report {
			return judgingtest.Judge(h, &lin.Leftovers{},
				fairLock)
		}, lockMutations(mutex, 0))
}

// lockMutations returns the mutations of a kind of lock. Exchanged tokens are found in a share of
// the cases; 0 means all.
func lockMutations(kind kind, exchanged int) []mutation {
	return []mutation{
		{"a second holder", onHold(kind, addHolder), []string{lin.Safety, lin.Linearizability, lin.Fencing}, 0},
		{"tokens exchanged", onHold(kind, swapTokens), []string{lin.Safety, lin.Fencing}, exchanged},
		{"a release that never happened", onHold(kind, dropDelete),
			[]string{lin.Safety, lin.Linearizability}, 0},
		{"a lock that never returns", onHold(kind, neverReturn), []string{lin.Liveness}, 0},
		{"a waiter overtaken", onHold(kind, overtake), []string{lin.Order}, 0},
	}
}

// onHold gives a mutation the table of holds.
func onHold(
	kind kind, mutate func(*rapid.T, *lin.History, table) bool,
) func(*rapid.T, *lin.History) bool {
	return func(t *rapid.T, h *lin.History) bool {
		return mutate(t, h, newTable(*h, kind, fairLock))
	}
}

// pick returns one of the holds that fit, or nil.
func pick(t *rapid.T, c table, fits func(i int, h *hold) bool) *hold {
	i := -1
	h := judgingtest.One(t, c.holds, func(h **hold) bool { i++; return fits(i, *h) })
	if h == nil {
		return nil
	}
	return *h
}

// addHolder adds a conflicting hold by another client.
func addHolder(t *rapid.T, h *lin.History, c table) bool {
	a := pick(t, c, func(_ int, h *hold) bool { return h.lock.Return < h.serverEnd })
	if a == nil {
		return false
	}
	step := a.lock.Return
	input := a.lock.Input
	if input == ops.ReadMode {
		input = ops.WriteMode
	}
	h.Server = append(h.Server, lin.ServerEvent{Step: step + 2, Kind: lin.NodeCreated, Path: node("z", 0),
		Session: 99, Owner: 99, Client: "z", Czxid: step + 2})
	h.Ops = append(h.Ops, lin.Op{Client: "z", Kind: c.kind.acquire, Input: input, Session: 99,
		Token: step + 2, Call: step + 1, Return: step + 3, Outcome: lin.OpOK})
	return true
}

func swapTokens(t *rapid.T, h *lin.History, c table) bool {
	a := pick(t, c, func(i int, _ *hold) bool { return i+1 < len(c.holds) })
	if a == nil {
		return false
	}
	b := c.holds[slices.Index(c.holds, a)+1]
	for i := range h.Ops {
		switch op := &h.Ops[i]; {
		case op.Token == 0:
		case op.Token == a.lock.Token:
			op.Token = b.lock.Token
		case op.Token == b.lock.Token:
			op.Token = a.lock.Token
		}
	}
	return true
}

// dropDelete removes a release from the log although a conflicting hold was granted later.
func dropDelete(t *rapid.T, h *lin.History, c table) bool {
	last := c.holds[max(0, len(c.holds)-1):]
	a := pick(t, c, func(_ int, h *hold) bool {
		end, _ := c.log.SessionEnd(h.owner.Session)
		return h.ending == released && h.owner != last[0].owner && last[0].lock.Return < min(end,
			last[0].serverEnd) &&
			h.lock.Return < last[0].lock.Return && c.kind.conflicts(h.lock, last[0].lock)
	})
	if a != nil {
		h.Server = slices.DeleteFunc(h.Server,
			func(e lin.ServerEvent) bool {
				return e.Kind == lin.NodeDeleted && e.Path == a.node.Path
			})
	}
	return a != nil
}

func neverReturn(t *rapid.T, h *lin.History, c table) bool {
	a := pick(t, c, func(_ int, _ *hold) bool { return true })
	for i := range h.Ops {
		if a != nil && h.Ops[i].Call == a.lock.Call {
			h.Ops[i].Return, h.Ops[i].Outcome = -1, lin.OpPending
		}
	}
	return a != nil
}

// overtake adds a client that waits with an older znode while a lock is granted.
func overtake(t *rapid.T, h *lin.History, c table) bool {
	b := pick(t, c, func(_ int, h *hold) bool { return h.node != nil })
	if b == nil {
		return false
	}
	created := b.node.Created
	h.Server = append(h.Server, lin.ServerEvent{Step: created - 1, Kind: lin.NodeCreated,
		Path: node("z", 0), Session: 99, Owner: 99, Client: "z", Czxid: created - 1})
	h.Ops = append(h.Ops, lin.Op{Client: "z", Kind: c.kind.acquire, Input: ops.WriteMode, Session: 99,
		Call: created - 2, Return: -1})
	return true
}

var fairLock = Claims{Path: "/lock", Fair: true, MaxHerd: 1}

func TestCorrectLocksAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := randomLock(t)
		if r := judgingtest.Judge(h, &lin.Leftovers{}, fairLock); r.Status() != lin.OK {
			t.Fatalf("%s\n%s", r, judgingtest.Dump(h))
		}
		h.Server = nil
		for i := range h.Ops {
			h.Ops[i].Session = 0
		}
		if v, _ := judgingtest.Judge(h, &lin.Leftovers{},
			Claims{}).Verdict(lin.Safety); v.Status == lin.Violated &&
			!anyNotice(h) {
			t.Fatalf("without the log: %s\n%s", v, judgingtest.Dump(h))
		}
	})
}

// anyNotice reports whether the history has notices. Without the log, an expiry can make a lock
// look shared: the expiry is known only from the end of the next call on.
func anyNotice(h lin.History) bool { return len(h.Notices) > 0 }
