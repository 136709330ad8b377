package lock

import (
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
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
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/lock"
		return Semaphore{Leases: 2, Claims: opts}
	}, []lockTest{
		{Name: "two of two", Build: func(f *fixture) {
			get(f, "a", 0)
			get(f, "b", 1)
			give(f, "a", 0)
			get(f, "c", 2)
			give(f, "b", 1)
			give(f, "c", 2)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "three of two", Bad: lin.Safety,
			Says:  "a, b and c own the semaphore at once, which has 2 places: a since step 3",
			Build: three},
		{Name: "three of two, believed", Bad: lin.Belief,
			Says: "a, b and c all believe that they hold the semaphore, which has 2 places, at " +
				"step 9", Build: three},
		{Name: "three of two, not linearizable", Bad: lin.Linearizability,
			Says: "it goes wrong with c: acquire() -> token 8", Build: three},
		{Name: "three of two by one client", Bad: lin.Safety, Says: "a, a and a own the semaphore",
			Build: func(f *fixture) {
				for i, name := range []string{"x", "y", "z"} {
					f.grants(two, "a", 1, node("a", i), name)
				}
			}},
		{Name: "a zombie is none too many", Build: func(f *fixture) {
			get(f, "a", 0)
			get(f, "b", 1)
			f.Expires(1, node("a", 0))
			get(f, "c", 2)
			f.Told("a", lin.SessionExpired)
			give(f, "b", 1)
			give(f, "c", 2)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "a lease that b deleted", Bad: lin.Safety,
			Says: "b deleted a's znode /lock/a-0000000000 at step 4 while a held the semaphore",
			Build: func(f *fixture) {
				get(f, "a", 0)
				f.Deletes("b", 2, node("a", 0), 1)
			}},
		{Name: "no lease of its own", Bad: lin.Safety,
			Says: "client a returned from acquire at step 5 without a znode of its own",
			Build: func(f *fixture) {
				get(f, "b", 0)
				f.Ret(f.Call("a", ops.Acquire, ""), lin.OpOK, lin.Result{Session: 1, Token: 77})
			}},
		{Name: "one overtakes, with a place for both", Opts: Claims{Fair: true},
			Build: func(f *fixture) {
				op := f.Call("a", ops.Acquire, "")
				token := f.Creates("a", 1, node("a", 0), "", 1)
				get(f, "b", 1)
				f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: 1})
			}},
		{Name: "one overtakes the one who is next", Opts: Claims{Fair: true}, Bad: lin.Order,
			Says: "c overtook b", Build: func(f *fixture) {
				get(f, "a", 0)
				f.Call("b", ops.Acquire, "")
				f.Creates("b", 2, node("b", 1), "", 2)
				get(f, "c", 2)
			}},
		{Name: "waits, with a place free", Bad: lin.Liveness,
			Says: "b's acquire (step 4, pending) never returned",
			Build: func(f *fixture) {
				get(f, "a", 0)
				f.Call("b", ops.Acquire, "")
				f.Left = &lin.Leftovers{}
			}},
		{Name: "waits at the full semaphore", Build: func(f *fixture) {
			get(f, "a", 0)
			get(f, "b", 1)
			f.Call("c", ops.Acquire, "")
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/lock"},
				{Path: node("a", 0), Owner: 1, Czxid: 2}, {Path: node("b", 1), Owner: 2, Czxid: 5}},
				Waiting: []lin.Wait{{Client: "c", Op: ops.Acquire, Path: "/lock"}}}
		}},
		{Name: "another token", Bad: lin.Fencing, Says: "but reads token 3 at step 5",
			Build: func(f *fixture) {
				get(f, "a", 0)
				f.Ret(f.Call("a", ops.Use, ""), lin.OpOK, lin.Result{Token: 3, Session: 1})
			}},
		{Name: "herd", Opts: Claims{MaxHerd: 1}, Bad: lin.Herd,
			Says: "the release at step 5 fired 7 watch notifications", Build: func(f *fixture) {
				get(f, "a", 0)
				op := f.Call("a", ops.Release, "")
				f.Deletes("a", 1, node("a", 0), 7)
				f.Ret(op, lin.OpOK, lin.Result{})
			}},
		{Name: "a lease is left", Bad: lin.Orphans, Says: "was left by a's acquire",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Acquire, "")
				token := f.Creates("a", 1, node("a", 0), "", 1)
				f.Ret(op, lin.OpUnknown, lin.Result{})
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{
					{Path: node("a", 0), Owner: 1, Czxid: token},
				}}
			}},
	})
}

// TestLeasesBesideTheirGuard: the znodes of the guarding lock are no leases.
func TestLeasesBesideTheirGuard(t *testing.T) {
	f := &fixture{}
	op := f.Call("a", ops.Acquire, "")
	f.Creates("a", 1, "/s/guard/a-0", "", 1)
	token := f.Creates("a", 1, "/s/leases/a-0", "", 1)
	f.Deletes("a", 1, "/s/guard/a-0", 1)
	f.Ret(op, lin.OpOK, lin.Result{Session: 1})
	opts := Semaphore{Leases: 1, Claims: Claims{Path: "/s", Nodes: "/s/leases"}}
	left := &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/s/leases/a-0", Owner: 1, Czxid: token}}}
	judgingtest.CheckReport(t, judgingtest.Judge(f.History(), left, opts), "", "")
	opts.Nodes = "/s/other"
	f.Creates("b", 2, "/s/other/b-0", "", 2)
	judgingtest.CheckReport(t, judgingtest.Judge(f.History(), left, opts), lin.Safety, "a returned from acquire")
}

func randomSemaphore(t *rapid.T) lin.History { return randomHolds(t, semaphoreKind(2), "") }

func judgeFairSemaphore(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Semaphore{Leases: 2, Claims: fairLock})
}

func TestCorrectSemaphoresAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomSemaphore, judgeFairSemaphore)
}

func TestBrokenSemaphoresAreFoundBroken(t *testing.T) {
	two := semaphoreKind(2)
	judgingtest.CheckMutations(t, randomSemaphore, judgeFairSemaphore, []mutation{
		{"two holders more", onHold(two, addTwoHolders), []string{lin.Safety, lin.Linearizability}, 0},
		{"tokens exchanged", onHold(two, swapTokens),
			[]string{lin.Safety, lin.Belief, lin.Order, lin.Linearizability}, 40},
		{"an acquire that never returns", onHold(two, neverReturn), []string{lin.Liveness}, 0},
	})
}

// addTwoHolders adds two holders of a lease beside an existing one.
func addTwoHolders(t *rapid.T, h *lin.History, c table) bool {
	if !addHolder(t, h, c) {
		return false
	}
	e, op := h.Server[len(h.Server)-1], h.Ops[len(h.Ops)-1]
	e.Path, e.Client, e.Session, e.Owner, e.Czxid = node("y", 0), "y", 98, 98, e.Czxid+100_000
	op.Client, op.Session, op.Token = "y", 98, e.Czxid
	h.Server, h.Ops = append(h.Server, e), append(h.Ops, op)
	return true
}
