package judging

import (
	"testing"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
)

// TestAMissingZnodeIsToldWithWhatTheWaiterDid: nobody makes the znode, and the waiter's last act
// may say why.
func TestAMissingZnodeIsToldWithWhatTheWaiterDid(t *testing.T) {
	left := &lin.Leftovers{Waiting: []lin.Wait{
		{Client: "b", Path: "/double/ready", Last: "event NodeChildrenChanged /double (step 24)"},
	}}
	text := WaitsFor(lin.History{}, lin.Op{Client: "b", Call: 1, Outcome: lin.OpPending}, left)
	check.Equal(t, text, "; it waits for a watch on /double/ready, which does not exist; the last "+
		"that b did or learned: event NodeChildrenChanged /double (step 24)")
	left.Nodes = []lin.NodeAtRest{{Path: "/double/ready"}}
	text = WaitsFor(lin.History{}, lin.Op{Client: "b", Call: 1, Outcome: lin.OpPending}, left)
	check.Equal(t, text, "; it waits for a watch on /double/ready, which was left by an earlier attempt")
}

// TestAWaiterWithoutItsPlaceIsToldOfIt: the child of another is no reason to wait for ever. What
// took the place comes first, unless it was the waiter itself.
func TestAWaiterWithoutItsPlaceIsToldOfIt(t *testing.T) {
	left := &lin.Leftovers{Waiting: []lin.Wait{{Client: "a", Path: "/d"}},
		Nodes: []lin.NodeAtRest{{Path: "/d", Czxid: 1}, {Path: "/d/b", Czxid: 3}}}
	h := lin.History{Server: []lin.ServerEvent{
		{Kind: lin.NodeCreated, Client: "a", Session: 7, Owner: 7, Path: "/d/a", Step: 2, Czxid: 2, Zxid: 2},
		{Kind: lin.NodeCreated, Client: "b", Session: 8, Path: "/d/b", Step: 3, Czxid: 3, Zxid: 3},
		{Kind: lin.NodeDeleted, Client: "a", Session: 7, Owner: 7, Path: "/d/a", Step: 4, Czxid: 2, Zxid: 4},
	}}
	waits := "a's enter (step 1, pending) never returned, although the faults stopped; it waits for a " +
		"watch on /d, which holds /d/b: that was left by b's create at step 3"
	op := lin.Op{Client: "a", Kind: "enter", Call: 1, Outcome: lin.OpPending}
	check.Equal(t, NeverReturned(h, op, left).Summary, waits+"; a deleted its own znode /d/a at step 4")
	h.Server[2].Client, h.Server[2].Session = "", 0
	check.Equal(t, NeverReturned(h, op, left).Summary,
		"a's own znode /d/a went at step 4, when session 0x7 ended, and then "+waits)
}
