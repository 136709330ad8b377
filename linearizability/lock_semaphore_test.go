package linearizability

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

func TestSemaphores(t *testing.T) {
	two := semaphoreKind(2)
	get := func(f *fixture, client string, n int) {
		f.grants(two, client, int64(client[0]-'a'+1), node(client, n), "")
	}
	give := func(f *fixture, client string, n int) {
		f.gives(two, client, int64(client[0]-'a'+1), node(client, n), "")
	}
	three := func(f *fixture) {
		get(f, "a", 0)
		get(f, "b", 1)
		get(f, "c", 2)
	}
	checkHistories(t, func(opts Lock) Claims {
		opts.Path = "/lock"
		return Semaphore{Leases: 2, Lock: opts}
	}, []lockTest{
		{name: "two of two", build: func(f *fixture) {
			get(f, "a", 0)
			get(f, "b", 1)
			give(f, "a", 0)
			get(f, "c", 2)
			give(f, "b", 1)
			give(f, "c", 2)
			f.left = &Leftovers{}
		}},
		{name: "three of two", bad: Safety,
			says:  "a, b and c own the semaphore at once, which has 2 places: a since step 3",
			build: three},
		{name: "three of two, believed", bad: Belief,
			says: "a, b and c all believe that they hold the semaphore, which has 2 places, at " +
				"step 9", build: three},
		{name: "three of two, not linearizable", bad: Linearizability,
			says: "it goes wrong with c: acquire() -> token 8", build: three},
		{name: "three of two by one client", bad: Safety, says: "a, a and a own the semaphore",
			build: func(f *fixture) {
				for i, name := range []string{"x", "y", "z"} {
					f.grants(two, "a", 1, node("a", i), name)
				}
			}},
		{name: "a zombie is none too many", build: func(f *fixture) {
			get(f, "a", 0)
			get(f, "b", 1)
			f.expires(1, node("a", 0))
			get(f, "c", 2)
			f.told("a", SessionExpired)
			give(f, "b", 1)
			give(f, "c", 2)
			f.left = &Leftovers{}
		}},
		{name: "a lease that b deleted", bad: Safety,
			says: "b deleted a's znode /lock/a-0000000000 at step 4 while a held the semaphore",
			build: func(f *fixture) {
				get(f, "a", 0)
				f.deletes("b", 2, node("a", 0), 1)
			}},
		{name: "no lease of its own", bad: Safety,
			says: "client a returned from acquire at step 5 without a znode of its own",
			build: func(f *fixture) {
				get(f, "b", 0)
				f.ret(f.call("a", ops.Acquire, ""), OpOK, Result{Session: 1, Token: 77})
			}},
		{name: "one overtakes, with a place for both", opts: Lock{Fair: true},
			build: func(f *fixture) {
				op := f.call("a", ops.Acquire, "")
				token := f.creates("a", 1, node("a", 0), "", 1)
				get(f, "b", 1)
				f.ret(op, OpOK, Result{Token: token, Session: 1})
			}},
		{name: "one overtakes the one who is next", opts: Lock{Fair: true}, bad: Order,
			says: "c overtook b", build: func(f *fixture) {
				get(f, "a", 0)
				f.call("b", ops.Acquire, "")
				f.creates("b", 2, node("b", 1), "", 2)
				get(f, "c", 2)
			}},
		{name: "waits, with a place free", bad: Liveness,
			says: "b's acquire (step 4, pending) never returned",
			build: func(f *fixture) {
				get(f, "a", 0)
				f.call("b", ops.Acquire, "")
				f.left = &Leftovers{}
			}},
		{name: "waits at the full semaphore", build: func(f *fixture) {
			get(f, "a", 0)
			get(f, "b", 1)
			f.call("c", ops.Acquire, "")
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/lock"},
				{Path: node("a", 0), Owner: 1, Czxid: 2}, {Path: node("b", 1), Owner: 2, Czxid: 5}},
				Waiting: []Wait{{Client: "c", Op: ops.Acquire, Path: "/lock"}}}
		}},
		{name: "a lease is left", bad: Orphans, says: "was left by a's acquire",
			build: func(f *fixture) {
				op := f.call("a", ops.Acquire, "")
				token := f.creates("a", 1, node("a", 0), "", 1)
				f.ret(op, OpUnknown, Result{})
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: node("a", 0), Owner: 1, Czxid: token}}}
			}},
	})
}

// TestLeasesBesideTheirGuard: the znodes of the guarding lock are no leases.
func TestLeasesBesideTheirGuard(t *testing.T) {
	f := &fixture{}
	op := f.call("a", ops.Acquire, "")
	f.creates("a", 1, "/s/guard/a-0", "", 1)
	token := f.creates("a", 1, "/s/leases/a-0", "", 1)
	f.deletes("a", 1, "/s/guard/a-0", 1)
	f.ret(op, OpOK, Result{Session: 1})
	opts := Semaphore{Leases: 1, Lock: Lock{Path: "/s", Nodes: "/s/leases"}}
	left := &Leftovers{Nodes: []NodeAtRest{{Path: "/s/leases/a-0", Owner: 1, Czxid: token}}}
	checkReport(t, Judge(f.history(), left, opts), "", "")
	opts.Nodes = "/s/other"
	f.creates("b", 2, "/s/other/b-0", "", 2)
	checkReport(t, Judge(f.history(), left, opts), Safety, "a returned from acquire")
}

func randomSemaphore(t *rapid.T) History { return randomHolds(t, semaphoreKind(2), "") }

func judgeFairSemaphore(h History) Report {
	return Judge(h, &Leftovers{}, Semaphore{Leases: 2, Lock: fairLock})
}

func TestCorrectSemaphoresAreFoundCorrect(t *testing.T) {
	checkValid(t, randomSemaphore, judgeFairSemaphore)
}

func TestBrokenSemaphoresAreFoundBroken(t *testing.T) {
	two := semaphoreKind(2)
	checkMutations(t, randomSemaphore, judgeFairSemaphore, []mutation{
		{"two holders more", onHold(two, addTwoHolders), []string{Safety, Linearizability}, 0},
		{"tokens exchanged", onHold(two, swapTokens),
			[]string{Safety, Belief, Order, Linearizability}, 40},
		{"an acquire that never returns", onHold(two, neverReturn), []string{Liveness}, 0},
	})
}

// addTwoHolders adds two holders of a lease beside an existing one.
func addTwoHolders(t *rapid.T, h *History, c lockTable) bool {
	if !addHolder(t, h, c) {
		return false
	}
	e, op := h.Server[len(h.Server)-1], h.Ops[len(h.Ops)-1]
	e.Path, e.Client, e.Session, e.Owner, e.Czxid = node("y", 0), "y", 98, 98, e.Czxid+100_000
	op.Client, op.Session, op.Token = "y", 98, e.Czxid
	h.Server, h.Ops = append(h.Server, e), append(h.Ops, op)
	return true
}
