package cli

import (
	"context"
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
func interruptedShrinking(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
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
	var out, errors strings.Builder
	status = knowing(w).run(ctx, args, &out, &errors)
	return status, out.String(), errors.String()
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
		status, stdout, stderr := interruptedShrinking(t, strings.Fields(args)...)
		if status != command.ExitViolated {
			t.Errorf("%s: status %d, stderr %q; want status %d", args, status, stderr, command.ExitViolated)
		}
		for _, want := range wants {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: %q; want %q", args, stdout, want)
			}
		}
	}
}

// TestInterruptedRunKeepsWhatItHas: an unexpected result before the interrupt is printed, and
// decides the status.
func TestInterruptedRunKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var stderr strings.Builder
	stdout := interrupter{after: "testdata/calm.yaml", interrupt: cancel}
	if got := run(ctx, []string{
		"run", "testdata/calm.yaml", "testdata/calm.yaml",
	}, &stdout, &stderr); got != command.ExitViolated {
		t.Errorf("exit status %d; want %d", got, command.ExitViolated)
	}
	if n := strings.Count(stdout.String(), "NOT AS EXPECTED"); n != 1 {
		t.Errorf("%d files told of in %q; want 1", n, stdout.String())
	}
}

func TestNothingTriedIsNotCalledNothingFound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	if got := run(ctx, []string{"fuzz", "lock"}, &stdout, &stderr); got != command.ExitInterrupted {
		t.Errorf("exit status %d; want %d", got, command.ExitInterrupted)
	}
	want := "lock recipes.Lock: 0 scenarios, 0 traces, 0 behaviours; interrupted\n" +
		"nothing was tried\n"
	if stdout.String() != want {
		t.Errorf("stdout %q; want %q", stdout.String(), want)
	}
}

// TestInterruptEndsLoading of a corpus, before anything is played.
func TestInterruptEndsLoading(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/calm.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "calm.yaml"), text, 0o666)
	}
	check.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	if got := run(
		ctx, []string{"fuzz", "lock", "--corpus", dir}, &stdout, &stderr,
	); got != command.ExitInterrupted {
		t.Errorf("exit status %d; want %d", got, command.ExitInterrupted)
	}
	if stdout.Len() > 0 || stderr.String() != "zksim: interrupted\n" {
		t.Errorf("stdout %q, stderr %q; want that it was interrupted, and nothing else",
			stdout.String(), stderr.String())
	}
}

// TestInterruptedWalkEndsWithTheProblems of the file.
func TestInterruptedWalkEndsWithTheProblems(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var stderr strings.Builder
	stdout := interrupter{after: "testdata/calm.yaml", interrupt: cancel}
	if got := run(ctx, []string{
		"replay", "--step", "testdata/calm.yaml",
	}, &stdout, &stderr); got != command.ExitViolated {
		t.Errorf("exit status %d; want %d", got, command.ExitViolated)
	}
	const want = "testdata/calm.yaml: NOT AS EXPECTED: expected a violation, but the verdict is " +
		"ok\n"
	if !strings.HasPrefix(stdout.String(), want) || !strings.HasSuffix(stdout.String(), "\n"+want) {
		t.Errorf("%q; want it to begin and to end with %q", stdout.String(), want)
	}
}
