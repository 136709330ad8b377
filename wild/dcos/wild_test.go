package main

import (
	"path/filepath"
	"testing"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestScenariosStillShow the bugs, with equal traces in two runs.
func TestScenariosStillShow(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("dcos-go connects by itself; run it by: zksim go test -C wild/dcos .")
	}
	for _, name := range []string{"directory-made-by-two", "peer-leaving-fails-election"} {
		file, err := saved.Load(filepath.Join("testdata", name+".yaml"),
			scenario.Catalogue{dcosElection()}.Find)
		check.OK(t, err)
		var traces [2]string
		for i := range traces {
			r, err := file.Check(false)
			check.OK(t, err)
			check.Equal(t, len(r.Problems), 0, "%s: %q", name, r.Problems)
			traces[i] = r.Outcome.Result.Trace.Hash()
		}
		check.Equal(t, traces[0], traces[1], "two runs of %s", name)
	}
}

// TestRightAlone is the control: an elector without another one does not end.
func TestRightAlone(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("dcos-go connects by itself; run it by: zksim go test -C wild/dcos .")
	}
	o, err := saved.Play(scenario.Scenario{Workload: dcosElection(), Seed: 1,
		Script: scenario.Script{Clients: 1, Rounds: 2}})
	check.OK(t, err)
	check.Equal(t, o.Property(), "", "%s", o.Summary())
}
