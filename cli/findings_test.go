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
		var stdout, stderr strings.Builder
		status := knowing(flaky()).run(t.Context(),
			append(strings.Fields(args), "--rounds", "1", "--save", dir), &stdout, &stderr)
		if status != command.ExitViolated {
			t.Errorf("%s: status %d, stderr %q; want %d", args, status, stderr.String(),
				command.ExitViolated)
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

// TestUnsteadyFindingsAreCounted, and not made small.
func TestUnsteadyFindingsAreCounted(t *testing.T) {
	var stdout, stderr strings.Builder
	status := knowing(flaky()).run(t.Context(),
		strings.Fields("fuzz moody --runs 20 --rounds 1 --unsteady"), &stdout, &stderr)
	if status != command.ExitViolated || !regexp.MustCompile(
		`found by \w+, scenario \d+, not made small, shown by [23] of 20 more runs:`,
	).MatchString(stdout.String()) {
		t.Errorf("status %d, %q, stderr %q; want 2 or 3 of 20", status, stdout.String(),
			stderr.String())
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
	dir := t.TempDir()
	var stdout, stderr strings.Builder
	args := "fuzz errant --runs 1 --rounds 1 --clients 1 --strategy random --check-determinism " +
		"--save " + dir
	status := knowing(errant()).run(t.Context(), strings.Fields(args), &stdout, &stderr)
	compare := regexp.MustCompile(`(?m)^request #1 of client a \(exists /run-1\) is sent at ` +
		`findings_test.go:\d+ in .*\nto compare the traces: zksim (diff \S+ \S+)$`)
	m := compare.FindStringSubmatch(stdout.String())
	if status != command.ExitViolated || m == nil {
		t.Fatalf("status %d, %q, stderr %q; want %s", status, stdout.String(), stderr.String(),
			compare)
	}
	stdout.Reset()
	if status := run(
		t.Context(), strings.Fields(m[1]), &stdout, &stderr,
	); status != command.ExitViolated || !strings.Contains(stdout.String(), "/run-1") ||
		!strings.Contains(stdout.String(), "/run-2") {
		t.Errorf("%s: status %d, %q, stderr %q; want both paths", m[1], status, stdout.String(),
			stderr.String())
	}
}
