package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// flaky is a lock with a judge that rejects every seventh run.
func flaky() scenario.Workload {
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
			"\nsafety is violated, but not each time, so it is not saved: two runs of one seed " +
				"differ; ",
		},
		"fuzz moody --runs 20 --json": {`"unsteady": true`},
		"sweep moody --clients 1": {
			"\nsafety is violated, but not each time, so it is not saved: two runs of one seed " +
				"differ; ",
		},
		"sweep moody --clients 1 --json": {`"unsteady": true`},
	} {
		dir := t.TempDir()
		got := zksim(t.Context(), args+" --rounds 1 --save "+dir, flaky())
		got.has(t, command.ExitViolated, wants...)
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 ||
			strings.Contains(got.stdout, "to see it again") {
			t.Errorf("%s: saved %v, error %v: %q; want nothing saved", args, left, err, got.stdout)
		}
	}
}

// TestUnsteadyFindingsAreCounted, and not made small.
func TestUnsteadyFindingsAreCounted(t *testing.T) {
	got := zksim(t.Context(), "fuzz moody --runs 20 --rounds 1 --unsteady", flaky())
	if got.status != command.ExitViolated || !regexp.MustCompile(
		`found by \w+, scenario \d+, not made small, shown by [23] of 20 more runs:`,
	).MatchString(got.stdout) {
		t.Errorf("%+v; want 2 or 3 of 20", got)
	}
}

// errant is a lock that looks at another path in each run.
func errant() scenario.Workload {
	w := ownKind("lock", "errant")
	play, runs := w.Play, new(atomic.Int64)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		if _, _, err := p.Conn().Exists(fmt.Sprintf("/run-%d", runs.Add(1))); err == nil {
			play(p, s)
		}
	}
	return w
}

// TestDivergenceHasTheSenderAndBothTraces.
func TestDivergenceHasTheSenderAndBothTraces(t *testing.T) {
	got := zksim(t.Context(), "fuzz errant --runs 1 --rounds 1 --clients 1 --strategy random "+
		"--check-determinism --save "+t.TempDir(), errant())
	compare := regexp.MustCompile(`(?m)^request #1 of client a is sent at ` +
		`findings_test.go:\d+ in .*: exists /run-3\nto compare the traces: zksim (diff \S+ \S+)$`)
	m := compare.FindStringSubmatch(got.stdout)
	if got.status != command.ExitViolated || m == nil {
		t.Fatalf("%+v; want %s", got, compare)
	}
	zksim(t.Context(), m[1]).has(t, command.ExitViolated, "/run-1", "/run-2")
}
