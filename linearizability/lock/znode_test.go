package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestTokensThatAreNoCzxids(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "a counter",
			Steps: "a lock() owns a-0 ok#1001; a unlocks a-0; b lock() owns b-0 ok#1002; " +
				"b unlocks b-0"},
		{Name: "a counter that meets another's czxid",
			Steps: "a lock() owns a-0 ok#1; a unlocks a-0; b lock() owns b-0 ok#2; b unlocks b-0"},
		{Name: "a counter that falls", Bad: lin.Fencing, Says: "b was granted the lock",
			Steps: "a lock() owns a-0 ok#1002; a unlocks a-0; b lock() owns b-0 ok#1001; " +
				"b unlocks b-0"},
		{Name: "czxids but for one", Bad: lin.Fencing,
			Says:  "with token 1001, which is not the czxid of its znode /lock/b-0000000000 (8)",
			Steps: "a locks a-0; a unlocks a-0; b lock() owns b-0 ok#1001; b unlocks b-0"},
		{Name: "the predecessor's czxid", Bad: lin.Fencing,
			Says: "a was granted the lock at step 3 without a token, though b had one at step 9",
			Steps: "a lock() owns a-0 ok#0; a unlocks a-0; b lock() owns b-0 ok#2; " +
				"b unlocks b-0; c lock() owns c-0 ok#8; c unlocks c-0"},
		{Name: "no tokens",
			Steps: "a lock() owns a-0 ok#0; a unlocks a-0; b lock() owns b-0 ok#0; b unlocks b-0"},
		{Name: "one without", Bad: lin.Fencing,
			Says:  "b was granted the lock at step 9 without a token, though a had one at step 3",
			Steps: "a locks a-0; a unlocks a-0; b lock() owns b-0 ok#0; b unlocks b-0"},
		{Name: "one lost before it was asked",
			Steps: "a locks a-0; a unlocks a-0; b lock() owns b-0; b expires b-0; b ok#0"},
		{Name: "one closed meanwhile",
			Steps: "a locks a-0; a unlocks a-0; b lock() owns b-0; b close(); b lock ok#0; " +
				"b deletes b-0; b ok"},
	})
}

func TestWhatAHolderLeavesIsNoLeak(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "held", Steps: "a locks a-0; a owns helper; rest helper a-0; a watches a-0",
			Build: ownersAreKnown},
		{Name: "released, a znode", Bad: lin.Orphans, Says: "/lock/helper (a's session 0x1)",
			Steps: "a locks a-0; a owns helper; a unlocks a-0; rest helper; a watches a-0",
			Build: ownersAreKnown},
		{Name: "released, a watch", Bad: lin.Orphans, Says: "a watch of a on /lock/a-0000000000",
			Steps: "a locks a-0; a owns helper; a unlocks a-0; rest helper; a watches a-0",
			Build: ownersAreKnown},
	})
}
