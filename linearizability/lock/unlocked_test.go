package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestUnlockGivesTheLockUp(t *testing.T) {
	// kept unlocks with success, although the znode lives on.
	kept := func(f *fixture) (token int64) {
		token = f.lock("a", 1, node("a", 0))
		f.Ret(f.Call("a", ops.Unlock, ""), lin.OpOK, lin.Result{Session: 1})
		return token
	}
	const sixSeconds = 6000 // steps
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "granted again through it", Bad: lin.Liveness,
			Says: "a was granted the lock through it again at step 7",
			Build: func(f *fixture) {
				token := kept(f)
				f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{Session: 1, Token: token})
				f.unlock("a", 1, node("a", 0))
			}},
		{Name: "for six seconds", Bad: lin.Liveness,
			Says: "its znode /lock/a-0000000000 (created at step 2) lived on for 6.001s",
			Build: func(f *fixture) {
				kept(f)
				f.Step += sixSeconds
				f.Deletes("a", 1, node("a", 0), 0)
			}},
		{Name: "to the end", Bad: lin.Liveness, Says: "lived on to the end", Build: func(f *fixture) {
			kept(f)
			f.Step += sixSeconds
		}},
		{Name: "until the session's end", Bad: lin.Liveness, Says: "lived on for 6.001s",
			Build: func(f *fixture) {
				kept(f)
				f.Step += sixSeconds
				f.Expires(1, node("a", 0))
			}},
		{Name: "deleted in the background", Build: func(f *fixture) {
			kept(f)
			f.Deletes("a", 1, node("a", 0), 0)
			f.Step += sixSeconds
		}},
		{Name: "deleted once connected again", Build: func(f *fixture) {
			kept(f)
			f.Told("a", lin.Disconnected)
			f.Step += sixSeconds
			f.Told("a", lin.Connected)
			f.Deletes("a", 1, node("a", 0), 0)
		}},
		{Name: "the session had ended", Build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.Expires(1)
			f.Ret(f.Call("a", ops.Unlock, ""), lin.OpOK, lin.Result{Session: 1})
			f.Step += sixSeconds
			f.Server(lin.ServerEvent{Kind: lin.NodeDeleted, Path: node("a", 0), Owner: 1})
		}},
		{Name: "lost, as far as it knew", Build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.Told("a", lin.LockLost)
			f.Ret(f.Call("a", ops.Unlock, ""), lin.OpOK, lin.Result{Session: 1})
			f.Step += sixSeconds
			f.Expires(1, node("a", 0))
		}},
	})
}

// TestWriterMayGoOnAsReader through the same znode.
func TestWriterMayGoOnAsReader(t *testing.T) {
	f := &fixture{}
	write := f.Call("a", ops.Lock, ops.WriteMode)
	token := f.Creates("a", 1, node("a", 0), "", 1)
	f.Ret(write, lin.OpOK, lin.Result{Session: 1, Token: token})
	f.Ret(f.Call("a", ops.Lock, ops.ReadMode), lin.OpOK, lin.Result{Session: 1, Token: token})
	f.Ret(f.Call("a", ops.Unlock, ops.WriteMode), lin.OpOK, lin.Result{Session: 1})
	f.Step += 6000
	last := f.Call("a", ops.Unlock, ops.ReadMode)
	f.Deletes("a", 1, node("a", 0), 0)
	f.Ret(last, lin.OpOK, lin.Result{Session: 1})
	v, bad := keptByUnlock(newTable(f.History(), readWriteLock, Claims{Path: "/lock"}))
	if bad {
		t.Error(v)
	}
}
