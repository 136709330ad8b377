package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestCloseReleases: a close releases everything that its client holds.
func TestCloseReleases(t *testing.T) {
	closes := func(deletes bool) func(f *fixture) lin.Report {
		return func(f *fixture) lin.Report {
			f.Starts("a", 1)
			f.Starts("b", 2)
			f.lock("a", 1, node("a", 1))
			op := f.Call("a", ops.Close, "")
			f.Told("a", lin.LockLost)
			if deletes {
				f.Deletes("a", 1, node("a", 1), 0)
			}
			f.Ret(op, lin.OpOK, lin.Result{})
			f.lock("b", 2, node("b", 2))
			f.unlock("b", 2, node("b", 2))
			return judgingtest.Judge(f.History(), nil, Claims{Path: "/lock", Signals: true})
		}
	}
	judgingtest.CheckReport(t, closes(true)(&fixture{}), "", "")
	judgingtest.CheckReport(t, closes(false)(&fixture{}), lin.Safety, "")
}

// TestCloseUnderWay: a close that runs at the grant may end the hold at once; a close that has
// returned may not.
func TestCloseUnderWay(t *testing.T) {
	closes := func(over bool) func(f *fixture) lin.Report {
		return func(f *fixture) lin.Report {
			f.Starts("a", 1)
			lock := f.Call("a", ops.Lock, "")
			op := f.Call("a", ops.Close, "")
			token := f.Creates("a", 1, node("a", 1), "", 1)
			if over {
				f.Ret(op, lin.OpOK, lin.Result{})
			}
			f.Ret(lock, lin.OpOK, lin.Result{Token: token, Session: 1})
			f.Told("a", lin.LockLost)
			f.Deletes("a", 1, node("a", 1), 0)
			if !over {
				f.Ret(op, lin.OpOK, lin.Result{})
			}
			return judgingtest.Judge(f.History(), nil, Claims{Path: "/lock", Signals: true})
		}
	}
	judgingtest.CheckReport(t, closes(false)(&fixture{}), "", "")
	judgingtest.CheckReport(t, closes(true)(&fixture{}), lin.Belief,
		"a was told at step 7 that it had lost the lock, but its znode")
}
