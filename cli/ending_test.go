package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// failingJudge is a lock with a bug and a judge that fails on plans with a fault of one kind, ""
// for plans without a fault.
func failingJudge(kind fault.Kind, failure error) scenario.Workload {
	w := ownLock("failing")
	judge := w.Judge
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		if kind == "" && len(e.Plan) == 0 || slices.ContainsFunc(e.Plan, func(f fault.Fault) bool {
			return f.Kind == kind
		}) {
			return linearizability.Report{}, failure
		}
		return judge(e)
	}
	return w
}

// TestErrorKeepsWhatWasFound before it: earlier findings are printed and saved, and decide the
// status.
func TestErrorKeepsWhatWasFound(t *testing.T) {
	w := failingJudge(fault.Cut, errors.New("the judge has gone home"))
	for args, wants := range map[string][]string{
		"fuzz failing --clients 1 --rounds 1 --strategy sweep --findings 99": {
			", 1 finding; ended by an error\n", "\nliveness is violated: ",
		},
		"fuzz failing --clients 1 --rounds 1 --strategy sweep --findings 99 --json": {
			`"property": "liveness"`, `"interrupted": false`, `"error": "lock failing, `,
		},
		"fuzz all --clients 1 --rounds 1 --strategy sweep --findings 99 --runs 800": {
			"lock failing: ", ", 1 finding; ended by an error\n", "\nliveness is violated: ",
			" 1 finding, 0 undecided; ended by an error\n",
		},
		"fuzz all --clients 1 --rounds 1 --strategy sweep --findings 99 --runs 800 --json": {
			`"property": "liveness"`, `"error": "lock failing: `,
		},
		"sweep failing --clients 1 --rounds 1": {
			" tried, of ", "; ended by an error\n", "\nliveness is violated at ",
		},
		"sweep failing --clients 1 --rounds 1 --json": {
			`"property": "liveness"`, `"interrupted": false`, `"error": "lock failing, `,
		},
	} {
		var stdout, stderr strings.Builder
		status := knowing(w).run(t.Context(), strings.Fields(args),
			&stdout, &stderr)
		if status != command.ExitViolated ||
			!strings.HasSuffix(stderr.String(), ": the judge has gone home\n") ||
			strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: status %d, stderr %q; want status %d and the error", args, status,
				stderr.String(), command.ExitViolated)
		}
		for _, want := range wants {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%s: %q; want %q", args, stdout.String(), want)
			}
		}
	}
}

// idle is a workload that sends requests and has nothing to judge.
func idle() scenario.Workload {
	return scenario.Workload{
		Name: "parcel", Impl: "idle",
		Play: func(p *scenario.Player, _ scenario.Script) {
			for range 3 {
				_, _, _ = p.Conn().Exists("/parcel")
			}
		},
		Judge: func(scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Report{}, nil
		},
	}
}

// TestNothingToJudgeIsNotCalledNothingFound, unless there are goals.
func TestNothingToJudgeIsNotCalledNothingFound(t *testing.T) {
	goals := idle()
	goals.Sometimes = []string{"a parcel comes"}
	for _, args := range []string{
		"fuzz idle --runs 20", "fuzz idle --runs 20 --json", "sweep idle --clients 1",
	} {
		var stdout, stderr strings.Builder
		status := knowing(idle()).run(t.Context(),
			strings.Fields(args), &stdout, &stderr)
		if status != command.ExitInput || stdout.Len() > 0 ||
			!strings.HasPrefix(stderr.String(), "zksim: no client has recorded a call in any of ") {
			t.Errorf("%s: status %d, stdout %q, stderr %q; want status %d and what is missing",
				args, status, stdout.String(), stderr.String(), command.ExitInput)
		}
		if status := knowing(goals).run(
			t.Context(), strings.Fields(args), &stdout, &stderr,
		); status != command.ExitOK {
			t.Errorf("%s with a goal: status %d, want %d: %s", args, status, command.ExitOK,
				stderr.String())
		}
	}
}

// TestErrorLikeAnInterrupt is wrong input, with findings or without.
func TestErrorLikeAnInterrupt(t *testing.T) {
	failure := fmt.Errorf("ask the oracle: %w", context.Canceled)
	for kind, w := range map[string]scenario.Workload{
		"at once": failingJudge("", failure), "later": failingJudge(fault.DropRequest, failure),
	} {
		for _, args := range []string{
			"fuzz failing --strategy sweep", "fuzz all --strategy sweep --runs 800",
			"sweep failing",
		} {
			args += " --clients 1 --rounds 1"
			var stdout, stderr strings.Builder
			status := knowing(w).run(t.Context(),
				strings.Fields(args), &stdout, &stderr)
			if status != command.ExitInput ||
				!strings.HasSuffix(stderr.String(), ": ask the oracle: context canceled\n") {
				t.Errorf("%s, %s: status %d, stderr %q; want status %d and the error", args, kind,
					status, stderr.String(), command.ExitInput)
			}
			for _, lie := range []string{"interrupted", "no violation found"} {
				if strings.Contains(stdout.String(), lie) {
					t.Errorf("%s, %s: %q in %q", args, kind, lie, stdout.String())
				}
			}
		}
	}
}
