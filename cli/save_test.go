package cli

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// moody is a lock with a judge that rejects every seventh run.
func moody() scenario.Workload {
	w := ownKind("lock", "moody")
	judge, runs := w.Judge, new(atomic.Int64)
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		report, err := judge(e)
		if runs.Add(1)%7 == 0 {
			report.Verdicts = append(report.Verdicts, linearizability.Verdict{
				Property: linearizability.Safety, Status: linearizability.Violated,
				Summary: "a bad day",
			})
		}
		return report, err
	}
	return w
}

// TestWhatDoesNotShowEachTimeIsNotSaved, and the output says so.
func TestWhatDoesNotShowEachTimeIsNotSaved(t *testing.T) {
	for args, wants := range map[string][]string{
		"fuzz moody --runs 20": {
			"\nsafety is violated, but not each time, so it is not saved: two runs of one seed differ; ",
		},
		"fuzz moody --runs 20 --json": {`"unsteady": true`},
		"sweep moody --clients 1": {
			"\nsafety is violated, but not each time, so it is not saved: two runs of one seed differ; ",
		},
		"sweep moody --clients 1 --json": {`"unsteady": true`},
	} {
		dir := t.TempDir()
		var stdout, stderr strings.Builder
		status := knowing(moody()).run(t.Context(),
			append(strings.Fields(args), "--rounds", "1", "--save", dir), &stdout, &stderr)
		if status != exitViolated {
			t.Errorf("%s: status %d, stderr %q; want %d", args, status, stderr.String(),
				exitViolated)
		}
		for _, want := range wants {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%s: %q; want %q", args, stdout.String(), want)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 ||
			strings.Contains(stdout.String(), "to see it again") {
			t.Errorf("%s: saved %v, error %v: %q; want nothing saved", args, left, err,
				stdout.String())
		}
	}
}
