package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// interruptedShrinking runs zksim with a lock that has a bug. It interrupts zksim at the first
// script with fewer than two clients, which is while a violation is made small.
func interruptedShrinking(t *testing.T, line string) ended {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := ownLock("own.Lock")
	play := w.Play
	w.Play = func(p *scenario.Player, s scenario.Script) {
		if s.Clients < 2 {
			cancel()
		}
		play(p, s)
	}
	return zksim(ctx, line, w)
}

// TestInterruptedShrinkingIsTold, and the violation counts.
func TestInterruptedShrinkingIsTold(t *testing.T) {
	for args, wants := range map[string][]string{
		"fuzz own.Lock --clients 2 --rounds 1 --strategy sweep": {
			", 1 finding; interrupted\n",
			" (not made smaller: interrupted):\n\nliveness is violated",
		},
		"fuzz own.Lock --clients 2 --rounds 1 --strategy sweep --json": {
			`"unfinished": true`, `"interrupted": true`,
		},
		"sweep own.Lock --clients 2 --rounds 1": {
			"; a scenario (not made smaller: interrupted):\n\n  liveness is violated",
		},
		"sweep own.Lock --clients 2 --rounds 1 --json": {
			`"unfinished": true`, `"interrupted": true`,
		},
	} {
		interruptedShrinking(t, args).has(t, command.ExitViolated, wants...)
	}
}

// TestInterruptedRunKeepsWhatItHas: an unexpected result before the interrupt is printed, and
// decides the status.
func TestInterruptedRunKeepsWhatItHas(t *testing.T) {
	status, stdout := interruptedAfter(t, "testdata/calm.yaml",
		"run testdata/calm.yaml testdata/calm.yaml")
	check.Equal(t, status, command.ExitViolated)
	check.Equal(t, strings.Count(stdout, "NOT AS EXPECTED"), 1, "files told of in %q", stdout)
	check.Contains(t, stdout, "1 of 2 files played; interrupted\n")
}

// interruptedAfter runs zksim, and interrupts it when it prints a line that begins with a text.
func interruptedAfter(t *testing.T, text, line string) (status int, stdout string) {
	ctx, cancel := context.WithCancel(t.Context())
	out := interrupter{after: text, interrupt: cancel}
	status = program{name: "zksim"}.run(ctx, strings.Fields(line), &out, io.Discard)
	return status, out.String()
}

func TestNothingTriedIsNotCalledNothingFound(t *testing.T) {
	got := zksim(cancelled(t), "fuzz lock")
	got.has(t, command.ExitInterrupted)
	check.Equal(t, got.stdout, "lock recipes.Lock: 0 scenarios, 0 traces, 0 behaviours; "+
		"interrupted: 0 of 1000 scenarios tried\nnothing was tried\n")
}

// TestInterruptedHuntsSayWhatTheyHaveNotReached: the workloads whose turn had not come.
func TestInterruptedHuntsSayWhatTheyHaveNotReached(t *testing.T) {
	got := zksim(cancelled(t), "fuzz all --runs 660")
	got.has(t, command.ExitInterrupted, "0 undecided; interrupted\nnot reached: ",
		", queue recipes.Queue, ", "scenarios tried\n")
	got = zksim(cancelled(t), "fuzz all --for 1h --json")
	got.has(t, command.ExitInterrupted, `"cut_off": "0s of `, `"not_reached": [`)
}

// TestATimeThatIsUp before all scenarios are played: the summary says how many were.
func TestATimeThatIsUp(t *testing.T) {
	got := zksim(t.Context(), "fuzz lock --clients 1 --rounds 1 --for 100ms --runs 1000000")
	got.has(t, command.ExitOK, "; the time is up: ", " of 1000000 scenarios tried\n")
}

// TestInterruptEndsLoading of a corpus, before anything is played.
func TestInterruptEndsLoading(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/calm.yaml")
	check.OK(t, err)
	check.OK(t, os.WriteFile(filepath.Join(dir, "calm.yaml"), text, 0o666))
	got := zksim(cancelled(t), "fuzz lock --corpus "+dir)
	got.has(t, command.ExitInterrupted)
	check.Equal(t, got.stdout+got.stderr, "zksim: interrupted\n")
}

// TestInterruptedWalkEndsWithTheProblems of the file.
func TestInterruptedWalkEndsWithTheProblems(t *testing.T) {
	status, stdout := interruptedAfter(t, "testdata/calm.yaml", "replay --step testdata/calm.yaml")
	check.Equal(t, status, command.ExitViolated)
	const want = "testdata/calm.yaml: NOT AS EXPECTED: expected a violation, but the verdict is " +
		"ok\n"
	if !strings.HasPrefix(stdout, want) || !strings.HasSuffix(stdout, "\n"+want) {
		t.Errorf("%q; want it to begin and to end with %q", stdout, want)
	}
}

// TestTheDemoBeginsWithWhatItWillDo, and how long that takes: here it is interrupted before the
// first run.
func TestTheDemoBeginsWithWhatItWillDo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	demo := zksim(ctx, "demo")
	if !strings.HasPrefix(demo.stdout, demoPlan) || !strings.Contains(demoPlan, "seconds") {
		t.Errorf("status %d, stdout %q, stderr %q", demo.status, demo.stdout, demo.stderr)
	}
}

// TestAnInterruptEndsCheck, which may take minutes for a large history.
func TestAnInterruptEndsCheck(t *testing.T) {
	name := filepath.Join(t.TempDir(), "history.jsonl")
	check.OK(t, os.WriteFile(name, []byte(`{"zksim":"history","version":1,"began":"2026-11-01T12:00:00Z"}
{"event":"call","at":1,"call":1,"client":"a","op":"lock"}
{"event":"return","at":2,"call":1,"outcome":"ok"}
`), 0o666))
	zksim(t.Context(), "check lock "+name).has(t, command.ExitOK, "the history is that of a lock")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	zksim(ctx, "check lock "+name).has(t, command.ExitInterrupted, "")
}
