package lock

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestReentrantLocks(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/lock"
		return Reentrant(opts)
	}, []lockTest{
		{Name: "an inner unlock finds that all was lost",
			Steps: "unlogged; a lock() ok; a lock() ok; a unlock() not-held; b lock() ok; " +
				"b unlock() ok"},
		{Name: "an inner unlock that failed is repeated",
			Steps: "unlogged; a lock() ok; a lock() ok; a unlock() failed; a unlock() ok; " +
				"a unlock() ok; b lock() ok; b unlock() ok"},
		{Name: "locked twice",
			Steps: "a locks a-0; a lock() ok@1#2; a unlock() ok@1; a unlocks a-0; b locks b-1; " +
				"b unlocks b-1; rest"},
		{Name: "free after the first of two unlocks", Bad: lin.Safety,
			Says: "a gave the lock up at step 7 (/lock/a-0000000000), before its last unlock: " +
				"it had locked 2 times since step 3",
			Steps: "a locks a-0; a lock() ok@1#2; a unlocks a-0; b locks b-1"},
		{Name: "two at once", Bad: lin.Safety, Says: "a and b own the lock at once",
			Steps: "a locks a-0; a lock() ok@1#2; a unlock() ok@1; b locks b-1"},
		{Name: "two at once, believed", Bad: lin.Belief, Says: "a and b both believe",
			Steps: "a locks a-0; a lock() ok@1#2; a unlock() ok@1; b locks b-1"},
		{Name: "two at once, not linearizable", Bad: lin.Linearizability,
			Says:  "exclude each other: a: lock() -> token 2 (steps 1 to 3), a: lock() again",
			Steps: "a locks a-0; a lock() ok@1#2; a unlock() ok@1; b locks b-1"},
		{Name: "locked again with a lower token", Bad: lin.Linearizability,
			Says: "lock() -> token 1", Steps: "a locks a-0; a lock() ok@1#1"},
		{Name: "locked again as a zombie",
			Steps: "a locks a-0; a expires a-0; a lock() ok@1#2; a told expired; b locks b-1; " +
				"b unlocks b-1; rest"},
		{Name: "locked again when told of the loss", Bad: lin.Safety,
			Says: "client a was granted the lock again at step 7 (token 2), but that hold was " +
				"over at step 4",
			Steps: "a locks a-0; a expires a-0; a told expired; a lock() ok@1#2"},
		{Name: "given up by the inner unlock, which says so", Bad: lin.Safety,
			Says:  "a gave the lock up at step",
			Steps: "a locks a-0; a lock() ok@1#2; a unlock(); a told lost; a deletes a-0; a ok"},
		{Name: "given up in the inner unlock after a disconnect",
			Steps: "a locks a-0; a lock() ok@1#2; a unlock(); a told disconnected; a told lost; " +
				"a deletes a-0; a ok"},
		{Name: "locks itself out", Bad: lin.Liveness,
			Says:  "client a waits for /lock/a-0000000000, which belongs to a's own session",
			Steps: "a locks a-0; a lock() owns a-1; rest a-0 a-1; a waits lock a-0"},
		{Name: "overtaken", Opts: Claims{Fair: true}, Bad: lin.Order, Says: "b overtook a",
			Steps: "a lock() owns a-0; b locks b-1"},
	})
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
