package scenario_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// TestStalledRunsSayNothingOfWhatTakesTime: and everything else.
func TestStalledRunsSayNothingOfWhatTakesTime(t *testing.T) {
	for _, test := range []struct {
		stalled  time.Duration
		property string
		want     bool
	}{
		{time.Second, linearizability.Liveness, true},
		{time.Second, linearizability.Belief, true},
		{time.Second, linearizability.Safety, false},
		{time.Second, linearizability.Delivery, false},
		{time.Second, "", false},
		{time.Millisecond, linearizability.Liveness, false},
	} {
		o := &scenario.Outcome{Result: &trace.Result{Stalled: test.stalled}}
		if test.property != "" {
			o.Report.Verdicts = []linearizability.Verdict{
				{Property: test.property, Status: linearizability.Violated},
			}
		}
		if got := o.Disturbed(); got != test.want {
			t.Errorf("stalled for %s, %q is violated: disturbed: %t", test.stalled,
				test.property, got)
		}
	}
}

func TestRealRunNeedsAServer(t *testing.T) {
	s := scenario.Scenario{Workload: builtin(t, "lock", ""), Script: scenario.DefaultScript}
	if _, err := s.RunReal(context.Background(), nil, 0); err == nil ||
		!strings.Contains(err.Error(), "no server is given") {
		t.Errorf("without a server: %v", err)
	}
	s.Script.Clients = 0
	if _, err := s.RunReal(context.Background(), nil, 0); err == nil ||
		!strings.Contains(err.Error(), "clients: 0") {
		t.Errorf("without clients: %v", err)
	}
}
