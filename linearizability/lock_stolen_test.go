package linearizability

import (
	"testing"

	"github.com/zksim/zksim/linearizability/ops"
)

// TestStolenLocks: only the server may revoke a lock.
func TestStolenLocks(t *testing.T) {
	const shared = "/lock/x" // the same name for the znode of each owner
	blindRelease := func(again bool) func(f *fixture) {
		return func(f *fixture) {
			f.lock("b", 2, shared)
			op := f.call("b", ops.Unlock, "")
			f.deletes("b", 2, shared, 1)
			f.lock("a", 1, shared)
			if again {
				f.deletes("b", 2, shared, 1) // the reply was lost, and b tries again
			}
			f.ret(op, OpOK, Result{})
			if !again {
				f.unlock("a", 1, shared)
			}
		}
	}
	toldFirst := func(kind NoticeKind) func(f *fixture) {
		return func(f *fixture) {
			f.lock("a", 1, shared)
			f.told("a", kind)
			f.deletes("b", 2, shared, 1)
		}
	}
	checkHistories(t, lockAt, []lockTest{
		{name: "blind release", bad: Safety,
			says:  "b deleted a's znode /lock/x at step 9 while a held the lock",
			build: blindRelease(true)},
		{name: "release that hits its own znode only", build: blindRelease(false)},
		{name: "snatched, then granted to another", bad: Belief, says: "a and b both believe",
			build: func(f *fixture) {
				f.lock("a", 1, shared)
				f.deletes("b", 2, shared, 1)
				f.lock("b", 2, shared)
			}},
		{name: "snatched before the good news", bad: Safety,
			says: "b deleted a's znode /lock/x at step 3 before a's lock returned",
			build: func(f *fixture) {
				op := f.call("a", ops.Lock, "")
				token := f.creates("a", 1, shared, "", 1)
				f.deletes("b", 2, shared, 1)
				f.ret(op, OpOK, Result{Token: token, Session: 1})
			}},
		{name: "by its own stray delete", bad: Safety,
			says: "a deleted its own znode /lock/x at step 4 while a held the lock",
			build: func(f *fixture) {
				f.lock("a", 1, shared)
				f.deletes("a", 1, shared, 1)
			}},
		{name: "in the middle of its own unlock", build: func(f *fixture) {
			f.lock("a", 1, shared)
			op := f.call("a", ops.Unlock, "")
			f.deletes("b", 2, shared, 1)
			f.ret(op, OpOK, Result{})
		}},
		{name: "told of a loss before", build: toldFirst(LockLost)},
		{name: "told of a disconnect only", bad: Safety, says: "b deleted a's znode",
			build: toldFirst(Disconnected)},
		{name: "closed its session", build: func(f *fixture) {
			f.lock("a", 1, shared)
			step := f.server(ServerEvent{Kind: SessionEnded, Session: 1, Owner: 1, Client: "a"})
			f.h.Server = append(f.h.Server, ServerEvent{Step: step, Kind: NodeDeleted, Path: shared,
				Session: 1, Owner: 1, Client: "a"})
		}},
		{name: "reaped late, after the session's end", build: func(f *fixture) {
			f.lock("a", 1, shared)
			f.expires(1)
			f.deletes("b", 2, shared, 1)
		}},
	})
}

func TestStolenLockIsNoZombieWindow(t *testing.T) {
	f := &fixture{}
	f.lock("a", 1, node("a", 0))
	f.deletes("b", 2, node("a", 0), 1)
	f.told("a", SessionExpired)
	if r := Judge(f.history(), nil, Lock{Path: "/lock"}); len(r.ZombieWindows) != 0 {
		t.Errorf("got %+v", r.ZombieWindows)
	}
}

// TestReentrantLockIsNotStolen: without tokens, a re-entrant lock looks like two holds, and the
// first has no unlock.
func TestReentrantLockIsNotStolen(t *testing.T) {
	f := &fixture{}
	op := f.call("a", ops.Lock, "")
	f.creates("a", 1, node("a", 0), "", 1)
	f.ret(op, OpOK, Result{Session: 1})
	f.ret(f.call("a", ops.Lock, ""), OpOK, Result{Session: 1})
	f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{Session: 1})
	f.unlock("a", 1, node("a", 0))
	r := Judge(f.history(), nil, Lock{Path: "/lock"})
	if v, _ := r.Verdict(Safety); v.Status != OK {
		t.Error(v)
	}
}
