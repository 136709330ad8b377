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
