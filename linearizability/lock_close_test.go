package linearizability

import (
	"testing"

	"github.com/zksim/zksim/linearizability/ops"
)

// TestCloseReleases: a close releases everything that its client holds.
func TestCloseReleases(t *testing.T) {
	closes := func(deletes bool) func(f *fixture) Report {
		return func(f *fixture) Report {
			f.starts("a", 1)
			f.starts("b", 2)
			f.lock("a", 1, node("a", 1))
			op := f.call("a", ops.Close, "")
			f.told("a", LockLost)
			if deletes {
				f.deletes("a", 1, node("a", 1), 0)
			}
			f.ret(op, OpOK, Result{})
			f.lock("b", 2, node("b", 2))
			f.unlock("b", 2, node("b", 2))
			return Judge(f.history(), nil, Lock{Path: "/lock", Signals: true})
		}
	}
	checkReport(t, closes(true)(&fixture{}), "", "")
	checkReport(t, closes(false)(&fixture{}), Safety, "")
}

// TestCloseUnderWay: a close that runs at the grant may end the hold at once; a close that has
// returned may not.
func TestCloseUnderWay(t *testing.T) {
	closes := func(over bool) func(f *fixture) Report {
		return func(f *fixture) Report {
			f.starts("a", 1)
			lock := f.call("a", ops.Lock, "")
			op := f.call("a", ops.Close, "")
			token := f.creates("a", 1, node("a", 1), "", 1)
			if over {
				f.ret(op, OpOK, Result{})
			}
			f.ret(lock, OpOK, Result{Token: token, Session: 1})
			f.told("a", LockLost)
			f.deletes("a", 1, node("a", 1), 0)
			if !over {
				f.ret(op, OpOK, Result{})
			}
			return Judge(f.history(), nil, Lock{Path: "/lock", Signals: true})
		}
	}
	checkReport(t, closes(false)(&fixture{}), "", "")
	checkReport(t, closes(true)(&fixture{}), Belief,
		"a was told at step 7 that it had lost the lock, but its znode")
}
