package scenario

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// TestStalledRunsSayNothingOfPropertiesWithATimeLimit: violations of other properties stay.
func TestStalledRunsSayNothingOfPropertiesWithATimeLimit(t *testing.T) {
	for _, test := range []struct {
		stalled  time.Duration
		busy     []string
		property string
		want     linearizability.Status
	}{
		{time.Second, nil, linearizability.Liveness, linearizability.Unknown},
		{time.Second, nil, linearizability.Belief, linearizability.Unknown},
		{time.Second, nil, linearizability.Safety, linearizability.Violated},
		{time.Second, nil, linearizability.Delivery, linearizability.Violated},
		{time.Second, []string{"a"}, linearizability.Liveness, linearizability.Violated},
		{time.Second, []string{"a"}, linearizability.Belief, linearizability.Unknown},
		{10 * time.Second, []string{"a"}, linearizability.Liveness, linearizability.Unknown},
		{time.Millisecond, nil, linearizability.Liveness, linearizability.Violated},
	} {
		o := &Outcome{Result: &trace.Result{Stalled: test.stalled, Busy: test.busy}}
		o.Report.Verdicts = []linearizability.Verdict{
			{Property: test.property, Status: linearizability.Violated},
		}
		o.excuse()
		if got := o.Status(); got != test.want {
			t.Errorf("stalled for %s, busy %v, %s is violated: %s", test.stalled, test.busy,
				test.property, got)
		}
	}
}

// TestDivergedServersAccuseNobody, whatever is violated.
func TestDivergedServersAccuseNobody(t *testing.T) {
	for diverged, want := range map[string]linearizability.Status{
		"": linearizability.Violated, "server 2 has a node /a": linearizability.Unknown,
	} {
		o := &Outcome{Result: &trace.Result{Diverged: diverged}}
		o.Report.Verdicts = []linearizability.Verdict{
			{Property: linearizability.Safety, Status: linearizability.Violated, Summary: "two owners"},
		}
		o.excuseServers()
		check.Equal(t, o.Status(), want, "%q", diverged)
		if diverged != "" {
			check.Contains(t, o.Report.Verdicts[0].Summary,
				"ZOOKEEPER-5010: server 2 has a node /a: two owners")
		}
	}
}
