package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestStolenLocks: only the server may revoke a lock.
func TestStolenLocks(t *testing.T) {
	const shared = "/lock/x" // the same name for the znode of each owner
	blindRelease := func(again bool) func(f *fixture) {
		return func(f *fixture) {
			f.lock("b", 2, shared)
			op := f.Call("b", ops.Unlock, "")
			f.Deletes("b", 2, shared, 1)
			f.lock("a", 1, shared)
			if again {
				f.Deletes("b", 2, shared, 1) // the reply was lost, and b tries again
			}
			f.Ret(op, lin.OpOK, lin.Result{})
			if !again {
				f.unlock("a", 1, shared)
			}
		}
	}
	toldFirst := func(kind lin.NoticeKind) func(f *fixture) {
		return func(f *fixture) {
			f.lock("a", 1, shared)
			f.Told("a", kind)
			f.Deletes("b", 2, shared, 1)
		}
	}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "blind release", Bad: lin.Safety,
			Says:  "b deleted a's znode /lock/x at step 9 while a held the lock",
			Build: blindRelease(true)},
		{Name: "release that hits its own znode only", Build: blindRelease(false)},
		{Name: "snatched, then granted to another", Bad: lin.Belief, Says: "a and b both believe",
			Build: func(f *fixture) {
				f.lock("a", 1, shared)
				f.Deletes("b", 2, shared, 1)
				f.lock("b", 2, shared)
			}},
		{Name: "snatched before the good news", Bad: lin.Safety,
			Says: "b deleted a's znode /lock/x at step 3 before a's lock returned",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Lock, "")
				token := f.Creates("a", 1, shared, "", 1)
				f.Deletes("b", 2, shared, 1)
				f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: 1})
			}},
		{Name: "by its own stray delete", Bad: lin.Safety,
			Says: "a deleted its own znode /lock/x at step 4 while a held the lock",
			Build: func(f *fixture) {
				f.lock("a", 1, shared)
				f.Deletes("a", 1, shared, 1)
			}},
		{Name: "in the middle of its own unlock", Build: func(f *fixture) {
			f.lock("a", 1, shared)
			op := f.Call("a", ops.Unlock, "")
			f.Deletes("b", 2, shared, 1)
			f.Ret(op, lin.OpOK, lin.Result{})
		}},
		{Name: "told of a loss before", Build: toldFirst(lin.LockLost)},
		{Name: "told of a disconnect only", Bad: lin.Safety, Says: "b deleted a's znode",
			Build: toldFirst(lin.Disconnected)},
		{Name: "closed its session", Build: func(f *fixture) {
			f.lock("a", 1, shared)
			step := f.Server(lin.ServerEvent{Kind: lin.SessionEnded, Session: 1, Owner: 1, Client: "a"})
			f.H.Server = append(f.H.Server,
				lin.ServerEvent{Step: step, Kind: lin.NodeDeleted, Path: shared,
					Session: 1, Owner: 1, Client: "a"})
		}},
		{Name: "reaped late, after the session's end", Build: func(f *fixture) {
			f.lock("a", 1, shared)
			f.Expires(1)
			f.Deletes("b", 2, shared, 1)
		}},
	})
}

func TestStolenLockIsNoZombieWindow(t *testing.T) {
	f := &fixture{}
	f.lock("a", 1, node("a", 0))
	f.Deletes("b", 2, node("a", 0), 1)
	f.Told("a", lin.SessionExpired)
	if r := judgingtest.Judge(f.History(), nil, Claims{Path: "/lock"}); len(r.ZombieWindows) != 0 {
		t.Errorf("got %+v", r.ZombieWindows)
	}
}

// TestReentrantLockIsNotStolen: without tokens, a re-entrant lock looks like two holds, and the
// first has no unlock.
func TestReentrantLockIsNotStolen(t *testing.T) {
	f := &fixture{}
	op := f.Call("a", ops.Lock, "")
	f.Creates("a", 1, node("a", 0), "", 1)
	f.Ret(op, lin.OpOK, lin.Result{Session: 1})
	f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{Session: 1})
	f.Ret(f.Call("a", ops.Unlock, ""), lin.OpOK, lin.Result{Session: 1})
	f.unlock("a", 1, node("a", 0))
	r := judgingtest.Judge(f.History(), nil, Claims{Path: "/lock"})
	if v, _ := r.Verdict(lin.Safety); v.Status != lin.OK {
		t.Error(v)
	}
}
