package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestTokensThatAreNoCzxids(t *testing.T) {
	hold := func(f *fixture, client string, session int64, token func(czxid int64) int64) {
		op := f.Call(client, ops.Lock, "")
		czxid := f.Creates(client, session, node(client, 0), "", session)
		f.Ret(op, lin.OpOK, lin.Result{Token: token(czxid), Session: session})
		f.unlock(client, session, node(client, 0))
	}
	count := func(n int64) func(int64) int64 { return func(int64) int64 { return n } }
	itself := func(czxid int64) int64 { return czxid }
	none := count(0)
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "a counter", Build: func(f *fixture) {
			hold(f, "a", 1, count(1001))
			hold(f, "b", 2, count(1002))
		}},
		{Name: "a counter that meets another's czxid", Build: func(f *fixture) {
			hold(f, "a", 1, count(1))
			hold(f, "b", 2, count(2)) // a's czxid
		}},
		{Name: "a counter that falls", Bad: lin.Fencing, Says: "b was granted the lock",
			Build: func(f *fixture) {
				hold(f, "a", 1, count(1002))
				hold(f, "b", 2, count(1001))
			}},
		{Name: "czxids but for one", Bad: lin.Fencing,
			Says: "with token 1001, which is not the czxid of its znode /lock/b-0000000000 (8)",
			Build: func(f *fixture) {
				hold(f, "a", 1, itself)
				hold(f, "b", 2, count(1001))
			}},
		{Name: "the predecessor's czxid", Bad: lin.Fencing,
			Says: "a was granted the lock at step 3 without a token, though b had one at step 9",
			Build: func(f *fixture) {
				hold(f, "a", 1, none)
				hold(f, "b", 2, count(2))
				hold(f, "c", 3, count(8))
			}},
		{Name: "no tokens", Build: func(f *fixture) {
			hold(f, "a", 1, none)
			hold(f, "b", 2, none)
		}},
		{Name: "one without", Bad: lin.Fencing,
			Says: "b was granted the lock at step 9 without a token, though a had one at step 3",
			Build: func(f *fixture) {
				hold(f, "a", 1, itself)
				hold(f, "b", 2, none)
			}},
		{Name: "one lost before it was asked", Build: func(f *fixture) {
			hold(f, "a", 1, itself)
			b := f.Call("b", ops.Lock, "")
			f.Creates("b", 2, node("b", 0), "", 2)
			f.Expires(2, node("b", 0))
			f.Ret(b, lin.OpOK, lin.Result{Session: 2})
		}},
		{Name: "one closed meanwhile", Build: func(f *fixture) {
			hold(f, "a", 1, itself)
			b := f.Call("b", ops.Lock, "")
			f.Creates("b", 2, node("b", 0), "", 2)
			closing := f.Call("b", ops.Close, "")
			f.Ret(b, lin.OpOK, lin.Result{Session: 2})
			f.Deletes("b", 2, node("b", 0), 0)
			f.Ret(closing, lin.OpOK, lin.Result{})
		}},
	})
}

func TestWhatAHolderLeavesIsNoLeak(t *testing.T) {
	watched := func(release bool) func(f *fixture) {
		return func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			helper := f.Creates("a", 1, "/lock/helper", "", 1)
			left := &lin.Leftovers{Watches: []lin.WatchAtRest{{Client: "a", Path: node("a", 0)}},
				Nodes: []lin.NodeAtRest{
					{Path: "/lock/helper", Owner: 1, Czxid: helper, OwnerClient: "a"},
				}}
			if release {
				f.unlock("a", 1, node("a", 0))
			} else {
				left.Nodes = append(left.Nodes,
					lin.NodeAtRest{Path: node("a", 0), Owner: 1, Czxid: token, OwnerClient: "a"})
			}
			f.Left = left
		}
	}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "held", Build: watched(false)},
		{Name: "released, a znode", Bad: lin.Orphans, Says: "/lock/helper (a's session 0x1)",
			Build: watched(true)},
		{Name: "released, a watch", Bad: lin.Orphans, Says: "a watch of a on /lock/a-0000000000",
			Build: watched(true)},
	})
}
