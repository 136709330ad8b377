package linearizability

import (
	"testing"

	"github.com/zksim/zksim/linearizability/ops"
)

func TestUnlockGivesTheLockUp(t *testing.T) {
	// kept unlocks with success, although the znode lives on.
	kept := func(f *fixture) (token int64) {
		token = f.lock("a", 1, node("a", 0))
		f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{Session: 1})
		return token
	}
	const sixSeconds = 6000 // steps
	checkHistories(t, lockAt, []lockTest{
		{name: "granted again through it", bad: Liveness,
			says: "a was granted the lock through it again at step 7",
			build: func(f *fixture) {
				token := kept(f)
				f.ret(f.call("a", ops.Lock, ""), OpOK, Result{Session: 1, Token: token})
				f.unlock("a", 1, node("a", 0))
			}},
		{name: "for six seconds", bad: Liveness,
			says: "its znode /lock/a-0000000000 (created at step 2) lived on for 6.001s",
			build: func(f *fixture) {
				kept(f)
				f.step += sixSeconds
				f.deletes("a", 1, node("a", 0), 0)
			}},
		{name: "to the end", bad: Liveness, says: "lived on to the end", build: func(f *fixture) {
			kept(f)
			f.step += sixSeconds
		}},
		{name: "until the session's end", bad: Liveness, says: "lived on for 6.001s",
			build: func(f *fixture) {
				kept(f)
				f.step += sixSeconds
				f.expires(1, node("a", 0))
			}},
		{name: "deleted in the background", build: func(f *fixture) {
			kept(f)
			f.deletes("a", 1, node("a", 0), 0)
			f.step += sixSeconds
		}},
		{name: "deleted once connected again", build: func(f *fixture) {
			kept(f)
			f.told("a", Disconnected)
			f.step += sixSeconds
			f.told("a", Connected)
			f.deletes("a", 1, node("a", 0), 0)
		}},
		{name: "the session had ended", build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.expires(1)
			f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{Session: 1})
			f.step += sixSeconds
			f.server(ServerEvent{Kind: NodeDeleted, Path: node("a", 0), Owner: 1})
		}},
		{name: "lost, as far as it knew", build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.told("a", LockLost)
			f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{Session: 1})
			f.step += sixSeconds
			f.expires(1, node("a", 0))
		}},
	})
}

// TestWriterMayGoOnAsReader through the same znode.
func TestWriterMayGoOnAsReader(t *testing.T) {
	f := &fixture{}
	write := f.call("a", ops.Lock, ops.WriteMode)
	token := f.creates("a", 1, node("a", 0), "", 1)
	f.ret(write, OpOK, Result{Session: 1, Token: token})
	f.ret(f.call("a", ops.Lock, ops.ReadMode), OpOK, Result{Session: 1, Token: token})
	f.ret(f.call("a", ops.Unlock, ops.WriteMode), OpOK, Result{Session: 1})
	f.step += 6000
	last := f.call("a", ops.Unlock, ops.ReadMode)
	f.deletes("a", 1, node("a", 0), 0)
	f.ret(last, OpOK, Result{Session: 1})
	v, bad := keptByUnlock(newLockTable(f.history(), readWriteLock, Lock{Path: "/lock"}))
	if bad {
		t.Error(v)
	}
}
