package linearizability

import (
	"testing"

	"github.com/zksim/zksim/linearizability/ops"
)

func TestTokensThatAreNoCzxids(t *testing.T) {
	hold := func(f *fixture, client string, session int64, token func(czxid int64) int64) {
		op := f.call(client, ops.Lock, "")
		czxid := f.creates(client, session, node(client, 0), "", session)
		f.ret(op, OpOK, Result{Token: token(czxid), Session: session})
		f.unlock(client, session, node(client, 0))
	}
	count := func(n int64) func(int64) int64 { return func(int64) int64 { return n } }
	itself := func(czxid int64) int64 { return czxid }
	none := count(0)
	checkHistories(t, lockAt, []lockTest{
		{name: "a counter", build: func(f *fixture) {
			hold(f, "a", 1, count(1001))
			hold(f, "b", 2, count(1002))
		}},
		{name: "a counter that meets another's czxid", build: func(f *fixture) {
			hold(f, "a", 1, count(1))
			hold(f, "b", 2, count(2)) // a's czxid
		}},
		{name: "a counter that falls", bad: Fencing, says: "b was granted the lock",
			build: func(f *fixture) {
				hold(f, "a", 1, count(1002))
				hold(f, "b", 2, count(1001))
			}},
		{name: "czxids but for one", bad: Fencing,
			says: "with token 1001, which is not the czxid of its znode /lock/b-0000000000 (8)",
			build: func(f *fixture) {
				hold(f, "a", 1, itself)
				hold(f, "b", 2, count(1001))
			}},
		{name: "the predecessor's czxid", bad: Fencing,
			says: "a was granted the lock at step 3 without a token, though b had one at step 9",
			build: func(f *fixture) {
				hold(f, "a", 1, none)
				hold(f, "b", 2, count(2))
				hold(f, "c", 3, count(8))
			}},
		{name: "no tokens", build: func(f *fixture) {
			hold(f, "a", 1, none)
			hold(f, "b", 2, none)
		}},
		{name: "one without", bad: Fencing,
			says: "b was granted the lock at step 9 without a token, though a had one at step 3",
			build: func(f *fixture) {
				hold(f, "a", 1, itself)
				hold(f, "b", 2, none)
			}},
		{name: "one lost before it was asked", build: func(f *fixture) {
			hold(f, "a", 1, itself)
			b := f.call("b", ops.Lock, "")
			f.creates("b", 2, node("b", 0), "", 2)
			f.expires(2, node("b", 0))
			f.ret(b, OpOK, Result{Session: 2})
		}},
		{name: "one closed meanwhile", build: func(f *fixture) {
			hold(f, "a", 1, itself)
			b := f.call("b", ops.Lock, "")
			f.creates("b", 2, node("b", 0), "", 2)
			closing := f.call("b", ops.Close, "")
			f.ret(b, OpOK, Result{Session: 2})
			f.deletes("b", 2, node("b", 0), 0)
			f.ret(closing, OpOK, Result{})
		}},
	})
}

func TestWhatAHolderLeavesIsNoLeak(t *testing.T) {
	watched := func(release bool) func(f *fixture) {
		return func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			helper := f.creates("a", 1, "/lock/helper", "", 1)
			left := &Leftovers{Watches: []WatchAtRest{{"a", node("a", 0)}},
				Nodes: []NodeAtRest{
					{Path: "/lock/helper", Owner: 1, Czxid: helper, OwnerClient: "a"},
				}}
			if release {
				f.unlock("a", 1, node("a", 0))
			} else {
				left.Nodes = append(left.Nodes,
					NodeAtRest{Path: node("a", 0), Owner: 1, Czxid: token, OwnerClient: "a"})
			}
			f.left = left
		}
	}
	checkHistories(t, lockAt, []lockTest{
		{name: "held", build: watched(false)},
		{name: "released, a znode", bad: Orphans, says: "/lock/helper (a's session 0x1)",
			build: watched(true)},
		{name: "released, a watch", bad: Orphans, says: "a watch of a on /lock/a-0000000000",
			build: watched(true)},
	})
}
