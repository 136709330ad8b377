package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/queue"
)

// TestARecordedHistoryHasOneLineForEachStep, also for the steps without an event.
func TestARecordedHistoryHasOneLineForEachStep(t *testing.T) {
	h := lin.History{
		Ops: []lin.Op{
			{Client: "worker", Kind: ops.Take, Call: 2, CallTime: 1, Return: 5, ReturnTime: 7,
				Outcome: lin.OpOK, Output: "x", Session: 9},
			{Client: "other", Kind: ops.Poll, Call: 6, CallTime: 8, Return: 7, ReturnTime: 9,
				Outcome: lin.OpFailed, Err: "closed"},
		},
		Server: []lin.ServerEvent{{Step: 4, Time: 6, Kind: lin.NodeDeleted, Path: "/q/n-1",
			Zxid: 3, Session: 9, Client: "worker"}},
		Notices: []lin.Notice{{Client: "third", Step: 8, Time: time.Second, Kind: lin.LockLost}},
		End:     9, EndTime: time.Second,
	}
	o := scenario.Recorded("queue", "q.jsonl", h, lin.Judge(h, nil, queue.Claims{Path: "/q"}), nil)
	want := []string{
		"file no event", "worker calls take", "file no event",
		"server node-deleted /q/n-1 for worker, zxid 3", "worker take returns x",
		"other calls poll", "other poll fails (failed): closed", "third is told: lock lost",
		"file no event",
	}
	var got []string
	for n := range int64(o.Result.Trace.Len()) {
		e := o.Result.Trace.Entry(n + 1)
		got = append(got, e.Actor+" "+e.Text)
	}
	check.List(t, got, want)
	check.List(t, o.Clients(), []string{"other", "third", "worker"})
	check.Equal(t, o.Result.SessionClient[9], "worker")
	check.Equal(t, o.Scenario.String(), "queue, recorded in q.jsonl")
	check.Contains(t, o.Story(), "linearizability is violated: ")
	if strings.Contains(o.Story(), scenario.NoEvent) {
		t.Errorf("the story has lines without an event:\n%s", o.Story())
	}
}
