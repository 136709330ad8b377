package fuzz

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/look"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
	"github.com/zksim/zksim/linearizability"
)

// replay runs the scenario file of the flag instead of searching. The workload of the file must be
// that of the test. If a variable names the file, for all tests, other tests are skipped.
func replay(t TB, w scenario.Workload) {
	t.Helper()
	name := look.Located(*flagReplay)
	r, err := playSaved(w, name)
	if e := (*saved.ElsewhereError)(nil); errors.As(err, &e) {
		if fromEnvironment["replay"] {
			skip(t, fmt.Sprintf("zksim: %s is left to %s", name, titleOf(e.Test)))
			return
		}
		t.Fatalf("zksim: %v: the file is of %s", err, titleOf(e.Test))
	}
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	if line := drawn(t, r.Outcome, replayCommand(t, name)); line != "" {
		t.Logf("zksim: %s", strings.TrimSpace(line))
	}
	if *flagDiff != "" {
		compare(t, w, r.Outcome)
		return
	}
	text, err := replayed(name, r)
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	reportReplay(t, name, r, text)
}

// titleOf is the name of a test, with its package if that is known.
func titleOf(test saved.Test) string {
	if test.Package == "" {
		return test.Name
	}
	return test.Name + " of " + test.Package
}

// skip skips a test, if it can be skipped, and logs why.
func skip(t TB, why string) {
	t.Helper()
	if s, ok := t.(interface{ Skip(args ...any) }); ok {
		s.Skip(why)
	}
	t.Logf("%s", why)
}

// replayed is the text about a run that the flags ask for. With -zksim.step the run is shown on the
// terminal instead.
func replayed(name string, r *saved.Replay) (string, error) {
	view := show.View{File: name, Step: *flagStep, Until: *flagUntil}
	switch {
	case view.Step:
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			return "", fmt.Errorf("%s: there is no terminal: %w", setting("step"), err)
		}
		defer tty.Close()
		return "", view.Show(context.Background(), r, tty, tty)
	case view.Until > 0:
		var b strings.Builder
		err := view.Show(context.Background(), r, strings.NewReader(""), &b)
		return b.String(), err
	}
	return fmt.Sprintf("%s%s\nthe whole trace, but for pings:\n\n%s", r.Outcome.Story(),
		indented(r.Problems), withoutPings(r.Outcome)), nil
}

// withoutPings is the trace of an outcome without pings: most lines of a run that hangs are pings.
func withoutPings(o *scenario.Outcome) string {
	var b strings.Builder
	for n := range int64(o.Result.Trace.Len()) {
		line := o.Result.Trace.Entry(n + 1)
		if line.Text != "-> ping" && line.Text != "<- ping: ok" {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

// reportReplay fails the test, or lets it pass, by the verdict on the run of a file. text is about
// the run.
func reportReplay(t TB, name string, r *saved.Replay, text string) {
	t.Helper()
	if o := r.Outcome; o.Status() == linearizability.Violated {
		t.Fatalf("%s", cmp.Or(text, o.Property()+" is violated: "+o.Summary()))
	}
	if *flagUntil > 0 {
		t.Logf("%s", text)
	}
	switch {
	case r.Outcome.Status() == linearizability.Unknown:
		t.Fatalf("zksim: %s: the verdict is unknown: %s", name, r.Outcome.Summary())
	case r.Outcome.Scenario.On != nil && r.File.Expect == linearizability.Violated:
		t.Logf("zksim: %s: nothing is violated in this run; no two runs on an ensemble are alike: "+
			"try it again", name)
	case len(r.Outcome.Result.Missed) > 0:
		t.Fatalf("zksim: %s: %s: it tests nothing any more", name, strings.Join(r.Problems, "; "))
	case !repeats(t, name, r.Outcome):
	case r.File.Expect == linearizability.Violated:
		t.Logf("zksim: %s: nothing is violated any more; "+
			"the file may stay, as a regression test", name)
	default:
		t.Logf("zksim: %s: ok", name)
	}
}

// repeats plays the scenario of a file several times more. It fails, and reports false, if a run
// differs from the others.
func repeats(t TB, name string, o *scenario.Outcome) bool {
	t.Helper()
	steady, differing := hunt.Steady(o)
	if !steady {
		t.Fatalf("zksim: %s: %s", name, diverged(t, hunt.DivergenceOf(o, differing)))
	}
	return steady
}

// compare fails if the trace of a run differs from that of the file that the flag names.
func compare(t TB, w scenario.Workload, o *scenario.Outcome) {
	t.Helper()
	name := look.Located(*flagDiff)
	other, err := traceOf(w, name)
	if err != nil {
		t.Fatalf("zksim: %s: %v", setting("diff"), err)
	}
	text, equal := show.DiffOfRun(o.Result.Trace, name, other)
	if !equal {
		t.Fatalf("zksim: %s", text)
	}
	t.Logf("zksim: %s", text)
}

// traceOf is the trace in a file. A scenario file is played; any other file is a printed trace.
func traceOf(w scenario.Workload, name string) ([]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if saved.IsScenario(name) {
		r, err := playSaved(w, name)
		if err != nil {
			return nil, err
		}
		text = []byte(r.Outcome.Result.Trace.String())
	}
	return show.PrintedTrace(name, string(text))
}
