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
		{name: "czxids but for one", bad: Safety, says: "no znode with czxid 1001 was ever created",
			build: func(f *fixture) {
				hold(f, "a", 1, itself)
				hold(f, "b", 2, count(1001))
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
