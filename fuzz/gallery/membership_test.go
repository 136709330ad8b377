package gallery_test

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// TestWatchersOutliveTheOthers: a watcher that does all right is not accused if the processes of
// all others die before they have made a node.
func TestWatchersOutliveTheOthers(t *testing.T) {
	t.Parallel()
	for _, slug := range []string{"children-come-unseen", "instance-between-two-lists"} {
		named, err := gallery.Named(slug)
		check.OK(t, err)
		o := run(t, scenario.Scenario{
			Workload: named[0].Right, Script: scenario.Script{Clients: 3, Rounds: 1}, Seed: 1,
			Plan: []fault.Fault{
				{Kind: fault.Crash, Client: "b", Request: 1},
				{Kind: fault.Crash, Client: "c", Request: 1},
			},
		})
		check.Equal(t, o.Status(), linearizability.OK, "%s: %s", slug, o.Story())
	}
}
