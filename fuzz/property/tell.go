package property

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/internal/look"
	"github.com/zksim/zksim/fuzz/picture"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
	"github.com/zksim/zksim/linearizability"
	"pgregory.net/rapid"
)

// phase is why rapid plays a check that fails.
type phase int

const (
	tells   phase = iota // for the output of the test: the last, smallest failure
	looks                // for a failure
	shrinks              // to make it small
	saves                // for its fail file
)

// phaseNow is the phase of rapid that calls. A rapid with other functions always tells: then the
// log of each failing check has its story, and rapid prints that of the last one.
func phaseNow() phase {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		switch strings.TrimPrefix(f.Function, rapidPackage+".") {
		case "findBug", "checkFailFile", "doCheck":
			return looks
		case "(*shrinker).accept":
			return shrinks
		case "captureTestOutput":
			return saves
		case "checkTB", "checkFuzz":
			return tells
		}
		if !more {
			return tells
		}
	}
}

// outcome is a run with its verdict.
func (c *checker) outcome(p *played) *scenario.Outcome {
	v := linearizability.Verdict{Property: "property", Status: linearizability.OK}
	if f := p.failure; f != nil && !f.isSkip() {
		v.Status, v.Summary = linearizability.Violated, fmt.Sprint(f.value)
	}
	for n := int64(1); n <= int64(p.result.Trace.Len()); n++ {
		if e := p.result.Trace.Entry(n); e.Actor == observer && e.Text == failsHere {
			v.Steps = append(v.Steps, n)
		}
	}
	return scenario.Observed(scenario.Scenario{
		Workload: scenario.Workload{Name: "property", Impl: c.name},
		Script:   scenario.Script{Clients: len(Clients()), Rounds: 1, Servers: p.servers},
		Seed:     p.seed, Plan: p.plan,
	}, observer, p.result, v)
}

// tell writes what the flags ask for about the smallest failure: its story, unless they ask for
// something else, the command that repeats it, and its picture.
func (c *checker) tell(rt *rapid.T, p *played) {
	o := c.outcome(p)
	text, _, err := c.looked(o)
	if err != nil {
		text = fmt.Sprintf("%s\n%v", o.Story(), err)
	}
	if one, two := c.reasons[0], c.reasons[1]; one != "" && two != "" && one != two {
		text += fmt.Sprintf("\nnot made smaller: the same draws fail with %q and with %q; "+
			"does the body walk a map?\n", one, two)
	}
	if again := c.repeat(); again != "" {
		text += "\nto see it again: " + again
	}
	if dir := htmlDir(); dir != "" {
		text += "\n" + c.draw(dir, o)
	}
	rt.Logf("%s", text)
}

// looked is the text about a run that the flags ask for. A walk goes to the terminal. differs
// reports that the run was compared with another one, and is not like it.
func (c *checker) looked(o *scenario.Outcome) (text string, differs bool, err error) {
	view := show.View{Step: *look.Step, Until: *look.Until}
	r := &saved.Replay{Outcome: o}
	switch {
	case *look.Diff != "":
		return compared(o)
	case view.Step:
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			return "", false, fmt.Errorf("-zksim.step: there is no terminal: %w", err)
		}
		defer tty.Close()
		text, _, _ := strings.Cut(o.Story(), "\n")
		return text, false, view.Show(context.Background(), r, tty, tty)
	case view.Until > 0:
		var b strings.Builder
		err := view.Show(context.Background(), r, strings.NewReader(""), &b)
		return strings.TrimSuffix(b.String(), "\n"), false, err
	}
	return o.Story(), false, nil
}

// compared is the first difference of the trace of a run from one that was printed.
func compared(o *scenario.Outcome) (text string, differs bool, err error) {
	name := look.Located(*look.Diff)
	printed, err := os.ReadFile(name)
	if err != nil {
		return "", false, fmt.Errorf("-zksim.diff: %w", err)
	}
	other, err := show.PrintedTrace(name, string(printed))
	if err != nil {
		return "", false, fmt.Errorf("-zksim.diff: %w", err)
	}
	text, equal := show.DiffOfRun(o.Result.Trace, name, other)
	return text, !equal, nil
}

// repeat is the command that repeats the failure, "" for a target of Go's fuzzer, which says so
// itself.
func (c *checker) repeat() string {
	if c.tb == nil {
		return ""
	}
	if name, _ := c.failFile(); name != "" {
		return saved.TestOf(c.name).Command("-rapid.failfile=" + name)
	}
	return saved.TestOf(c.name).Command("-" + seedFlag + "=" + rapidSeed())
}

// htmlDir is the directory for pictures, "" for none.
func htmlDir() string {
	if *look.HTML != "" {
		return *look.HTML
	}
	return os.Getenv("ZKSIM_HTML")
}

// draw draws a failure, and returns a line about the picture.
func (c *checker) draw(dir string, o *scenario.Outcome) string {
	name := filepath.Base(failFolder(c.name)) + "-property-" + o.Result.Trace.Hash()[:8] + ".html"
	if err := picture.Add(dir, name, o, c.repeat()); err != nil {
		return fmt.Sprintf("there is no picture: %v", err)
	}
	return "the picture: " + filepath.Join(dir, name)
}

// lookAtPassed shows the run of a fail file that fails no more, if a flag asks for a failure. As in
// a replay of package fuzz, the test fails if the run differs from another trace.
func (c *checker) lookAtPassed() {
	if !*look.Step && *look.Until == 0 && *look.Diff == "" || replays() {
		return
	}
	name := givenFile()
	if names := failFiles(c.name); name == "" && len(names) > 0 {
		name = slices.Max(names) // the newest
	}
	c.phase = tells
	bits, err := drawsOf(name)
	p, _ := c.again(bits, c.chosen)
	if err != nil || p == nil {
		c.tb.Fatalf("zksim: -zksim.step, -zksim.until and -zksim.diff show a failure, and the property " +
			"has none, nor a fail file whose run could be shown: -rapid.failfile=FILE names one")
	}
	text, differs, err := c.looked(c.outcome(p))
	report := c.tb.Logf
	if differs || err != nil {
		report = c.tb.Fatalf
	}
	if err != nil {
		text += err.Error()
	}
	report("zksim: the draws of %s fail no more:\n%s", name, text)
}
