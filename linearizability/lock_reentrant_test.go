package linearizability

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

func TestReentrantLocks(t *testing.T) {
	a, b := node("a", 0), node("b", 1)
	again := func(f *fixture, kind string, token int64) {
		f.ret(f.call("a", kind, ""), OpOK, Result{Session: 1, Token: token})
	}
	innerUnlockLoses := func(disconnected bool) func(f *fixture) {
		return func(f *fixture) {
			again(f, ops.Lock, f.lock("a", 1, a))
			op := f.call("a", ops.Unlock, "")
			if disconnected {
				f.told("a", Disconnected)
			}
			f.told("a", LockLost)
			f.deletes("a", 1, a, 0)
			f.ret(op, OpOK, Result{Session: 1})
		}
	}
	checkHistories(t, func(opts Lock) Claims {
		opts.Path = "/lock"
		return ReentrantLock(opts)
	}, []lockTest{
		{name: "locked twice", build: func(f *fixture) {
			token := f.lock("a", 1, a)
			again(f, ops.Lock, token)
			again(f, ops.Unlock, 0)
			f.unlock("a", 1, a)
			f.lock("b", 2, b)
			f.unlock("b", 2, b)
			f.left = &Leftovers{}
		}},
		{name: "free after the first of two unlocks", bad: Safety,
			says: "a gave the lock up at step 7 (/lock/a-0000000000), before its last unlock: " +
				"it had locked 2 times since step 3", build: func(f *fixture) {
				token := f.lock("a", 1, a)
				again(f, ops.Lock, token)
				f.unlock("a", 1, a)
				f.lock("b", 2, b)
			}},
		{
			name: "two at once", bad: Safety, says: "a and b own the lock at once",
			build: twoReentrant,
		},
		{
			name: "two at once, believed", bad: Belief, says: "a and b both believe",
			build: twoReentrant,
		},
		{name: "two at once, not linearizable", bad: Linearizability, says: "it goes wrong with b",
			build: twoReentrant},
		{name: "locked again with a lower token", bad: Linearizability, says: "lock() -> token 1",
			build: func(f *fixture) {
				f.lock("a", 1, a)
				f.ret(f.call("a", ops.Lock, ""), OpOK, Result{Session: 1, Token: 1})
			}},
		{name: "locked again as a zombie", build: func(f *fixture) {
			token := f.lock("a", 1, a)
			f.expires(1, a)
			again(f, ops.Lock, token)
			f.told("a", SessionExpired)
			f.lock("b", 2, b)
			f.unlock("b", 2, b)
			f.left = &Leftovers{}
		}},
		{name: "locked again when told of the loss", bad: Safety,
			says: "client a was granted the lock again at step 7 (token 2), but that hold was " +
				"over at step 4", build: func(f *fixture) {
				token := f.lock("a", 1, a)
				f.expires(1, a)
				f.told("a", SessionExpired)
				again(f, ops.Lock, token)
			}},
		{name: "given up by the inner unlock, which says so", bad: Safety,
			says: "a gave the lock up at step", build: innerUnlockLoses(false)},
		{name: "given up in the inner unlock after a disconnect", build: innerUnlockLoses(true)},
		{name: "locks itself out", bad: Liveness,
			says: "client a waits for /lock/a-0000000000, which belongs to a's own session",
			build: func(f *fixture) {
				first := f.lock("a", 1, a)
				f.call("a", ops.Lock, "")
				second := f.creates("a", 1, node("a", 1), "", 1)
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: a, Owner: 1, OwnerClient: "a",
					Czxid: first}, {Path: node("a", 1), Owner: 1, OwnerClient: "a", Czxid: second}},
					Waiting: []Wait{{Client: "a", Op: ops.Lock, Path: a}}}
			}},
		{name: "overtaken", opts: Lock{Fair: true}, bad: Order, says: "b overtook a",
			build: func(f *fixture) {
				f.call("a", ops.Lock, "")
				f.creates("a", 1, a, "", 1)
				f.lock("b", 2, b)
			}},
	})
}

func twoReentrant(f *fixture) {
	token := f.lock("a", 1, node("a", 0))
	f.ret(f.call("a", ops.Lock, ""), OpOK, Result{Session: 1, Token: token})
	f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{Session: 1})
	f.lock("b", 2, node("b", 1))
}

func randomReentrant(t *rapid.T) History { return randomHolds(t, reentrantLock, "") }

func judgeFairReentrant(h History) Report { return Judge(h, &Leftovers{}, ReentrantLock(fairLock)) }

func TestCorrectReentrantLocksAreFoundCorrect(t *testing.T) {
	checkValid(t, randomReentrant, judgeFairReentrant)
}

func TestBrokenReentrantLocksAreFoundBroken(t *testing.T) {
	checkMutations(t, randomReentrant, judgeFairReentrant, append(lockMutations(reentrantLock, 0),
		mutation{"an unlock forgotten", onHold(reentrantLock, dropUnlock), []string{Safety}, 0}))
}

// dropUnlock removes an inner unlock, so that the lock is released too early.
func dropUnlock(t *rapid.T, h *History, c lockTable) bool {
	a := pick(t, c, func(_ int, h *hold) bool {
		return h.ending == released && len(h.inner) > 0 && h.node != nil
	})
	if a == nil {
		return false
	}
	last := a.inner[len(a.inner)-1]
	i := slices.IndexFunc(h.Ops, func(op Op) bool { return op.Call == last.Call })
	h.Ops = append(h.Ops[:i], h.Ops[i+1:]...)
	return true
}
