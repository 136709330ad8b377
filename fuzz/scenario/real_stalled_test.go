package scenario

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// TestStalledRunsSayNothingOfPropertiesWithATimeLimit: violations of other properties stay.
func TestStalledRunsSayNothingOfPropertiesWithATimeLimit(t *testing.T) {
	for _, test := range []struct {
		stalled  time.Duration
		property string
		want     linearizability.Status
	}{
		{time.Second, linearizability.Liveness, linearizability.Unknown},
		{time.Second, linearizability.Belief, linearizability.Unknown},
		{time.Second, linearizability.Safety, linearizability.Violated},
		{time.Second, linearizability.Delivery, linearizability.Violated},
		{time.Millisecond, linearizability.Liveness, linearizability.Violated},
	} {
		o := &Outcome{Result: &trace.Result{Stalled: test.stalled}}
		o.Report.Verdicts = []linearizability.Verdict{
			{Property: test.property, Status: linearizability.Violated},
		}
		o.excuse()
		if got := o.Status(); got != test.want {
			t.Errorf("stalled for %s, %s is violated: %s", test.stalled, test.property, got)
		}
	}
}
