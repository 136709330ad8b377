package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/zksim/zksim/fuzz/scenario"
)

type runCommand struct {
	Files []string `arg:"" name:"file" help:"Scenario files."`
	JSON  bool     `help:"Print JSON."`
}

// replayedJSON is a scenario file's run for programs.
type replayedJSON struct {
	File     string      `json:"file"`
	AsExpect bool        `json:"as_expected"`
	Problems []string    `json:"problems"`
	Outcome  outcomeJSON `json:"outcome"`
}

func (c *runCommand) Run(a *app) error {
	files := make([]scenario.File, len(c.Files))
	for i, name := range c.Files { // all input is looked at before anything runs
		var err error
		if files[i], err = a.files.Load(name); err != nil {
			return err
		}
	}
	bad := false
	all := []replayedJSON{}
	var interrupted error
	for i, file := range files {
		if interrupted = a.ctx.Err(); interrupted != nil {
			break
		}
		r, err := file.Check(true)
		if err != nil {
			return err
		}
		bad = bad || len(r.Problems) > 0
		if c.JSON {
			all = append(all, replayedJSON{c.Files[i], len(r.Problems) == 0, append([]string{}, r.Problems...), outcomeOf(r.Outcome)})
		} else {
			a.printReplay(c.Files[i], r)
		}
		a.progress.show("%d of %d files", i+1, len(files))
	}
	if c.JSON {
		if err := a.json(all); err != nil {
			return err
		}
	}
	if bad {
		return errViolated
	}
	return interrupted
}

// printReplay is a scenario file's run in a line, or a few if it differs.
func (a *app) printReplay(name string, r *scenario.Replay) {
	if len(r.Problems) == 0 {
		text := "ok"
		if p := r.Outcome.Property(); p != "" {
			text = p + " is violated, as expected"
		}
		a.printf("%s: %s\n", name, text)
		return
	}
	for _, p := range r.Problems {
		a.printf("%s: NOT AS EXPECTED: %s\n", name, p)
	}
}

type replayCommand struct {
	File  string `arg:"" help:"Scenario file."`
	Trace bool   `help:"Print the whole trace."`
	Step  bool   `help:"Walk through the trace: return shows the next line, ? lists what else can be typed."`
	Until *int64 `help:"Print the trace up to line N and the world as it was then; with --step begin there." placeholder:"N"`
	Draw  string `help:"Write a picture of the history, an HTML page, to a file." placeholder:"FILE"`
	JSON  bool   `help:"Print JSON."`
}

func (c *replayCommand) Run(a *app) error {
	file, err := a.files.Load(c.File)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	r, err := file.Check(true)
	if err != nil {
		return err
	}
	if last := int64(r.Outcome.Result.Trace.Len()); c.until() > last {
		return fmt.Errorf("--until: the trace has %d lines, there is no line %d", last, c.until())
	}
	var noPicture error
	if c.Draw != "" {
		if noPicture, err = draw(r.Outcome, c.Draw); err != nil {
			return err
		}
	}
	err = c.show(a, r)
	if noPicture != nil {
		c.tellNoPicture(a, r, noPicture)
	}
	if len(r.Problems) > 0 && (err == nil || errors.Is(err, context.Canceled)) {
		err = errViolated
	}
	return err
}

// show shows the run as the flags say.
func (c *replayCommand) show(a *app, r *scenario.Replay) error {
	switch {
	case c.Step:
		return c.step(a, r)
	case c.JSON:
		return a.json(replayedJSON{c.File, len(r.Problems) == 0, append([]string{}, r.Problems...), outcomeOf(r.Outcome)})
	case c.Until != nil:
		a.printf("%s\n%s\n", r.Outcome.Result.Trace.Range(1, c.until()), r.Outcome.At(c.until()))
		a.printReplay(c.File, r)
	default:
		c.tell(a, r)
	}
	return nil
}

// step walks through the run. What is not as the file expects is told before, as
// somebody who looks for what it shows would look in vain, and once more at the end.
func (c *replayCommand) step(a *app, r *scenario.Replay) error {
	if len(r.Problems) > 0 {
		a.printReplay(c.File, r)
		a.printf("\n")
	}
	err := walk(a.ctx, r.Outcome, max(c.until(), 1), a.in, a.out)
	a.printReplay(c.File, r)
	return err
}

// tellNoPicture says that there is none, on stderr where stdout is for programs.
func (c *replayCommand) tellNoPicture(a *app, r *scenario.Replay, why error) {
	out := a.out
	if c.JSON {
		out = a.errors
	}
	fmt.Fprintf(out, "no picture: %v (workload %s)\n", why, r.Outcome.Scenario.Workload.Name)
}

// until is the line of --until, 0 if there is none.
func (c *replayCommand) until() int64 {
	if c.Until == nil {
		return 0
	}
	return *c.Until
}

func (c *replayCommand) check() error {
	switch {
	case c.Until != nil && c.until() < 1:
		return fmt.Errorf("--until: the lines of a trace are numbered from 1, there is no line %d", c.until())
	case c.JSON && (c.Step || c.Until != nil || c.Trace):
		return fmt.Errorf("--json goes without --step, --until and --trace")
	case c.Trace && (c.Step || c.Until != nil):
		return fmt.Errorf("--trace goes without --step and --until")
	}
	return nil
}

// draw writes porcupine's picture of a history. Not every history has one: noPicture
// says why.
func draw(o *scenario.Outcome, name string) (noPicture, err error) {
	var page bytes.Buffer
	if err := o.Report.Draw(&page); err != nil {
		return err, nil
	}
	if err := os.WriteFile(name, page.Bytes(), 0o666); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return nil, nil
}

func (c *replayCommand) tell(a *app, r *scenario.Replay) {
	if c.Trace {
		a.printf("%s\n", r.Outcome.Result.Trace)
		a.printf("%s\n", r.Outcome.Status())
	} else {
		a.printf("%s", r.Outcome.Story())
	}
	a.printf("\nverdicts:\n")
	for _, v := range r.Outcome.Verdicts() {
		a.printf("  %s\n", v)
	}
	for _, m := range r.Outcome.Measurements() {
		a.printf("  %s\n", m)
	}
	a.printf("\n")
	a.printReplay(c.File, r)
}
