package hunt_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestEachNodeThatAHuntLeavesIsTold: several scenarios of a generation cannot delete their nodes,
// and the hunt ends with the error of one of them.
func TestEachNodeThatAHuntLeavesIsTold(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t, fakezk.Options{TickTime: 250 * time.Millisecond})
	on, err := scenario.Reach(t.Context(), []string{server.Listen(t)})
	check.OK(t, err)
	const clients = 3 // a fault of a scenario may stop one of them
	var plays atomic.Int64
	w := scenario.Workload{Name: "lock", Impl: "locking", Judge: scenario.Invariants()}
	w.Play = func(p *scenario.Player, _ scenario.Script) {
		if plays.Add(1) <= clients {
			return // the run before the first generation
		}
		acl := zk.WorldACL(zk.PermCreate | zk.PermRead) // nobody may delete
		_, _ = p.Conn().Create("/kept", nil, 0, acl)
		_, _ = p.Conn().Create("/kept/child", nil, 0, acl)
	}
	_, err = hunt.Hunt{
		Workload: w, Script: scenario.Script{Clients: clients, Rounds: 1, Servers: 1},
		Seed: 1, Runs: 5, On: on,
	}.Run(t.Context())
	if left := (*realworld.LeftError)(nil); !errors.As(err, &left) {
		t.Fatalf("the hunt ends with %v", err)
	}
	left := on.Left()
	nodes := 0
	for _, node := range server.Tree() {
		root, ok := strings.CutSuffix(node.Path, "/tree")
		if !ok {
			continue
		}
		nodes++
		told := 0
		for _, err := range left {
			if strings.HasPrefix(err.Error(), root+" is left on ") {
				told++
			}
		}
		check.Equal(t, told, 1, "errors about %s", root)
	}
	if check.Equal(t, len(left), nodes, "errors"); nodes < 2 {
		t.Errorf("%d nodes are left; want several", nodes)
	}
}
