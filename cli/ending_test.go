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
	"github.com/zksim/zksim/internal/check"
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
			", 1 finding; ended by an error: 19 of 1000 scenarios tried\n",
			"\nliveness is violated: ",
		},
		"fuzz failing --clients 1 --rounds 1 --strategy sweep --findings 99 --json": {
			`"property": "liveness"`, `"interrupted": false`, `"error": "lock failing, `,
		},
		"fuzz all --clients 1 --rounds 1 --strategy sweep --findings 99 --runs 800": {
			"lock failing: ", ", 1 finding; ended by an error: 19 of 25 scenarios tried\n",
			"\nliveness is violated: ",
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
		got := zksim(t.Context(), args, w)
		got.has(t, command.ExitViolated, wants...)
		got.fails(t, command.ExitViolated, ": the judge has gone home")
		found := strings.Count(got.stderr, "; making it small\n")
		check.Equal(t, strings.Count(got.stderr, "\n")-found, 1, "errors in %q", got.stderr)
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
		got := zksim(t.Context(), args, idle())
		got.has(t, command.ExitInput)
		check.Equal(t, got.stdout, "", "%s", args)
		check.Contains(t, got.stderr, "zksim: no client has recorded a call in any of ")
		zksim(t.Context(), args, goals).has(t, command.ExitOK)
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
			got := zksim(t.Context(), args, w)
			got.fails(t, command.ExitInput, ": ask the oracle: context canceled")
			for _, lie := range []string{"interrupted", "no violation found"} {
				if strings.Contains(got.stdout, lie) {
					t.Errorf("%s, %s: %q in %q", args, kind, lie, got.stdout)
				}
			}
		}
	}
}

// TestAScenarioThatWasCutOffIsNoFact: what was not played to its end may end the process all the
// same.
func TestAScenarioThatWasCutOffIsNoFact(t *testing.T) {
	for cutOff, want := range []string{
		"played alone, none ends the process",
		"none has ended the process, but 1 scenario not tried to the end within 1m0s of real time",
	} {
		if got := playedAlone(cutOff, false); !strings.HasSuffix(got, want) {
			t.Errorf("%d cut off: %q; want %q", cutOff, got, want)
		}
		if got := playedAlone(cutOff, true); !strings.Contains(got, want+"; a proof chooses during a run, "+
			"and only the choices before its end are known") {
			t.Errorf("%d cut off, of a proof: %q", cutOff, got)
		}
	}
}
