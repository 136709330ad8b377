package gallery_test

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// TestOnlyAPauseShows the bug of the exhibit: of all faults at the first requests of a client.
func TestOnlyAPauseShows(t *testing.T) {
	t.Parallel()
	named, err := gallery.Named("cache-reads-again-whenever-it-is-asked")
	check.OK(t, err)
	s := scenario.Scenario{Workload: named[0].Wrong, Script: scenario.DefaultScript, Seed: 2}
	shown := 0
	for _, f := range hunt.FaultPoints(run(t, s)) {
		if f.Client != "b" || f.Request < 1 || f.Request > 8 {
			continue
		}
		s.Plan = []fault.Fault{f}
		o := run(t, s)
		switch {
		case o.Status() != linearizability.Violated:
		case f.Kind == fault.Pause:
			shown++
		default:
			t.Errorf("shown by another fault:\n%s", o.Story())
		}
	}
	if shown < 3 {
		t.Errorf("shown by %d pauses", shown)
	}
}
