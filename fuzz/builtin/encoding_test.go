package builtin_test

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestOutcomesReachAnotherProcess: an outcome says the same after it was encoded, with and without
// a violation.
func TestOutcomesReachAnotherProcess(t *testing.T) {
	violated := 0
	for _, w := range builtin.Workloads() {
		for _, text := range []string{"expire client=a request=2", "drop-reply client=a request=2",
			"drop-request client=a op=getChildren2 request=1"} {
			f, err := fault.Parse(text)
			check.OK(t, err)
			s := scenario.Scenario{
				Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1, Servers: 3}, Seed: 3,
				Plan: []fault.Fault{f},
			}
			o, err := s.Run()
			check.OK(t, err)
			encoded, err := o.Encode()
			check.OK(t, err)
			p, err := s.Decode(encoded)
			check.OK(t, err)
			if o.Property() != "" {
				violated++
			}
			check.Equal(t, p.Property(), o.Property(), w.Impl)
			check.Equal(t, p.Difference(o), "", w.Impl)
			check.Equal(t, p.Story(), o.Story(), w.Impl)
			check.Diff(t, p.Result.Messages(), o.Result.Messages(), w.Impl)
			check.Diff(t, p.Result.Requests, o.Result.Requests, w.Impl)
			want, wantOK := o.Report.Linearization()
			got, ok := p.Report.Linearization()
			check.Equal(t, ok, wantOK, w.Impl)
			check.Diff(t, got, want, w.Impl)
			for n := range int64(o.Result.Trace.Len()) {
				check.Equal(t, p.Result.Trace.Caller(n+1), o.Result.Trace.Caller(n+1), w.Impl)
			}
		}
	}
	check.Equal(t, violated > 0, true, "none of the outcomes was violated")
}
