package fuzz

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// logging is a test that keeps its log, too.
type logging struct {
	failing
	log []string
}

func (l *logging) Logf(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

// TestEachTestLogsTheNodesThatItLeaves on a running ensemble, and not those of the tests before it.
func TestEachTestLogsTheNodesThatItLeaves(t *testing.T) {
	t.Chdir(t.TempDir())
	server := fakezk.Start(t, fakezk.Options{TickTime: 250 * time.Millisecond})
	t.Cleanup(func() { flagServers, loggedNodes = scenario.Servers{}, 0 })
	check.OK(t, flagServers.UnmarshalText([]byte(server.Listen(t))))
	w := scenario.Workload{Name: "lock", Judge: scenario.Invariants()}
	w.Play = func(p *scenario.Player, _ scenario.Script) {
		acl := zk.WorldACL(zk.PermCreate | zk.PermRead) // nobody may delete
		_, _ = p.Conn().Create("/kept", nil, 0, acl)
		_, _ = p.Conn().Create("/kept/child", nil, 0, acl)
	}
	told := map[string]bool{}
	for range 2 {
		var l logging
		var group sync.WaitGroup
		group.Go(func() { Test(&l, w) })
		group.Wait()
		check.Contains(t, l.text, " is left on ")
		check.Equal(t, len(l.log), 1, "lines of the log: %q", l.log)
		node, _, _ := strings.Cut(strings.TrimPrefix(l.log[0], "zksim: "), " is left on ")
		check.Equal(t, server.Exists(node+"/tree/kept/child"), true, "%s is there", node)
		check.Equal(t, told[node], false, "%s was told before", node)
		told[node] = true
	}
}

// TestAReplayOnAnEnsembleThatShowsNothing proves nothing, also if a fault matched nothing.
func TestAReplayOnAnEnsembleThatShowsNothing(t *testing.T) {
	r := &saved.Replay{
		File: saved.File{Expect: linearizability.Violated},
		Outcome: scenario.Observed(scenario.Scenario{On: new(scenario.Ensemble)}, "",
			&trace.Result{Missed: []fault.Fault{{}}}, linearizability.Verdict{}),
	}
	var l logging
	reportReplay(&l, "a.yaml", r, "")
	check.List(t, l.log, []string{"zksim: a.yaml: nothing is violated in this run; " +
		"no two runs on an ensemble are alike: try it again"})
}
