package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// finding is a violation of a built-in workload by a plan of one fault.
func finding(t *testing.T, runs int, workload, impl, line string) hunt.Finding {
	t.Helper()
	w, err := builtin.Find(workload, impl)
	check.OK(t, err)
	f, err := fault.Parse(line)
	check.OK(t, err)
	o, err := scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
		Plan: []fault.Fault{f},
	}.Run()
	check.OK(t, err)
	return hunt.Finding{Outcome: o, Strategy: "test", Runs: runs}
}

func TestBudgetIsUsedUp(t *testing.T) {
	all, shares := budget{bounds: bounds{runs: 20}, hunts: 6}, []int{}
	for i := range all.hunts {
		shares = append(shares, all.share(i).runs)
	}
	if want := []int{4, 4, 3, 3, 3, 3}; !slices.Equal(shares, want) {
		t.Errorf("shares %v; want %v", shares, want)
	}
}

// TestManyDivergencesAreCounted, and only the first are named.
func TestManyDivergencesAreCounted(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 5: 5, 6: 6, 200: 6} {
		var out strings.Builder
		found := &hunt.Found{Divergences: make([]hunt.Divergence, n)}
		var j report.Hunt
		c := fuzzCommand{CheckDeterminism: true}
		check.OK(t, c.reportDivergences(
			&app{Env: envTo(t.Context(), &out, &out)}, found, &j,
		))
		if lines := strings.Count(out.String(), "two runs differ"); lines != want ||
			*j.Divergences != n {
			t.Errorf("%d divergences: counted %d, named in %d lines; want %d lines", n,
				*j.Divergences, lines, want)
		}
		if n == 200 && !strings.HasSuffix(out.String(), "two runs differ: 195 more scenarios\n") {
			t.Errorf("%q; want it to end with 195 more", out.String())
		}
	}
}
