package lock

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestReentrantLocks(t *testing.T) {
	a, b := node("a", 0), node("b", 1)
	again := func(f *fixture, kind string, token int64) {
		f.Ret(f.Call("a", kind, ""), lin.OpOK, lin.Result{Session: 1, Token: token})
	}
	innerUnlockLoses := func(disconnected bool) func(f *fixture) {
		return func(f *fixture) {
			again(f, ops.Lock, f.lock("a", 1, a))
			op := f.Call("a", ops.Unlock, "")
			if disconnected {
				f.Told("a", lin.Disconnected)
			}
			f.Told("a", lin.LockLost)
			f.Deletes("a", 1, a, 0)
			f.Ret(op, lin.OpOK, lin.Result{Session: 1})
		}
	}
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/lock"
		return Reentrant(opts)
	}, []lockTest{
		{Name: "locked twice", Build: func(f *fixture) {
			token := f.lock("a", 1, a)
			again(f, ops.Lock, token)
			again(f, ops.Unlock, 0)
			f.unlock("a", 1, a)
			f.lock("b", 2, b)
			f.unlock("b", 2, b)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "free after the first of two unlocks", Bad: lin.Safety,
			Says: "a gave the lock up at step 7 (/lock/a-0000000000), before its last unlock: " +
				"it had locked 2 times since step 3", Build: func(f *fixture) {
				token := f.lock("a", 1, a)
				again(f, ops.Lock, token)
				f.unlock("a", 1, a)
				f.lock("b", 2, b)
			}},
		{
			Name: "two at once", Bad: lin.Safety, Says: "a and b own the lock at once",
			Build: twoReentrant,
		},
		{
			Name: "two at once, believed", Bad: lin.Belief, Says: "a and b both believe",
			Build: twoReentrant,
		},
		{Name: "two at once, not linearizable", Bad: lin.Linearizability, Says: "it goes wrong with b",
			Build: twoReentrant},
		{Name: "locked again with a lower token", Bad: lin.Linearizability, Says: "lock() -> token 1",
			Build: func(f *fixture) {
				f.lock("a", 1, a)
				f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{Session: 1, Token: 1})
			}},
		{Name: "locked again as a zombie", Build: func(f *fixture) {
			token := f.lock("a", 1, a)
			f.Expires(1, a)
			again(f, ops.Lock, token)
			f.Told("a", lin.SessionExpired)
			f.lock("b", 2, b)
			f.unlock("b", 2, b)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "locked again when told of the loss", Bad: lin.Safety,
			Says: "client a was granted the lock again at step 7 (token 2), but that hold was " +
				"over at step 4", Build: func(f *fixture) {
				token := f.lock("a", 1, a)
				f.Expires(1, a)
				f.Told("a", lin.SessionExpired)
				again(f, ops.Lock, token)
			}},
		{Name: "given up by the inner unlock, which says so", Bad: lin.Safety,
			Says: "a gave the lock up at step", Build: innerUnlockLoses(false)},
		{Name: "given up in the inner unlock after a disconnect", Build: innerUnlockLoses(true)},
		{Name: "locks itself out", Bad: lin.Liveness,
			Says: "client a waits for /lock/a-0000000000, which belongs to a's own session",
			Build: func(f *fixture) {
				first := f.lock("a", 1, a)
				f.Call("a", ops.Lock, "")
				second := f.Creates("a", 1, node("a", 1), "", 1)
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: a, Owner: 1, OwnerClient: "a",
					Czxid: first}, {Path: node("a", 1), Owner: 1, OwnerClient: "a", Czxid: second}},
					Waiting: []lin.Wait{{Client: "a", Op: ops.Lock, Path: a}}}
			}},
		{Name: "overtaken", Opts: Claims{Fair: true}, Bad: lin.Order, Says: "b overtook a",
			Build: func(f *fixture) {
				f.Call("a", ops.Lock, "")
				f.Creates("a", 1, a, "", 1)
				f.lock("b", 2, b)
			}},
	})
}

func twoReentrant(f *fixture) {
	token := f.lock("a", 1, node("a", 0))
	f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{Session: 1, Token: token})
	f.Ret(f.Call("a", ops.Unlock, ""), lin.OpOK, lin.Result{Session: 1})
	f.lock("b", 2, node("b", 1))
}

func randomReentrant(t *rapid.T) lin.History { return randomHolds(t, reentrantLock, "") }

func judgeFairReentrant(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Reentrant(fairLock))
}

func TestCorrectReentrantLocksAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomReentrant, judgeFairReentrant)
}

func TestBrokenReentrantLocksAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomReentrant, judgeFairReentrant,
		append(lockMutations(reentrantLock, 0),
			mutation{"an unlock forgotten", onHold(reentrantLock, dropUnlock), []string{lin.Safety}, 0}))
}

// dropUnlock removes an inner unlock, so that the lock is released too early.
func dropUnlock(t *rapid.T, h *lin.History, c table) bool {
	a := pick(t, c, func(_ int, h *hold) bool {
		return h.ending == released && len(h.inner) > 0 && h.node != nil
	})
	if a == nil {
		return false
	}
	last := a.inner[len(a.inner)-1]
	i := slices.IndexFunc(h.Ops, func(op lin.Op) bool { return op.Call == last.Call })
	h.Ops = append(h.Ops[:i], h.Ops[i+1:]...)
	return true
}
