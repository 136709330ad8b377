package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/zksim/zksim/fuzz/saved"
)

type replayCommand struct {
	File  string `arg:"" help:"Scenario file."`
	Trace bool   `help:"Print the whole trace."`
	Step  bool   `help:"Walk through the trace: return shows the next line, ? lists the other keys."`
	Until *int64 `help:"Print the trace up to line N and the world as it was then; with --step begin there." placeholder:"N"`
	HTML  string `name:"html" help:"Write a picture of the run, an HTML page, to a file." placeholder:"OUT"`
	JSON  bool   `help:"Print JSON."`
}

func (c *replayCommand) Run(a *app) error {
	file, err := saved.Load(c.File, a.files.Find)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	r, err := a.check(file)
	if err != nil {
		return err
	}
	if last := int64(r.Outcome.Result.Trace.Len()); c.until() > last {
		return fmt.Errorf("--until: the trace has %d lines, there is no line %d", last, c.until())
	}
	if c.HTML != "" {
		if err := a.draw(r.Outcome, c.HTML, c.File); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	err = c.show(a, r)
	if len(r.Problems) > 0 && (err == nil || errors.Is(err, context.Canceled)) {
		err = errViolated
	}
	return err
}

// show prints the run in the form that the flags ask for.
func (c *replayCommand) show(a *app, r *saved.Replay) error {
	switch {
	case c.Step:
		return c.step(a, r)
	case c.JSON:
		return a.json(replayedOf(c.File, r))
	case c.Until != nil:
		a.printf("%s\n%s\n", r.Outcome.Result.Trace.Range(1, c.until()),
			snapshotOf(r.Outcome, c.until()))
		a.printReplay(c.File, r)
	default:
		c.tell(a, r)
	}
	return nil
}

// step walks through the run. It prints the differences from the file's expectations before the
// walk and at its end.
func (c *replayCommand) step(a *app, r *saved.Replay) error {
	if len(r.Problems) > 0 {
		a.printReplay(c.File, r)
		a.printf("\n")
	}
	err := walk(a.ctx, r.Outcome, max(c.until(), 1), a.in, a.out)
	a.printReplay(c.File, r)
	return err
}

// until is the line of --until, 0 without the flag.
func (c *replayCommand) until() int64 {
	if c.Until == nil {
		return 0
	}
	return *c.Until
}

// check checks the flags.
func (c *replayCommand) check() error {
	switch {
	case c.Until != nil && c.until() < 1:
		return fmt.Errorf("--until: %d; expected 1 or more", c.until())
	case c.JSON && (c.Step || c.Until != nil || c.Trace):
		return fmt.Errorf("--json goes without --step, --until and --trace")
	case c.Trace && (c.Step || c.Until != nil):
		return fmt.Errorf("--trace goes without --step and --until")
	}
	return nil
}

// tell prints the story or the trace of the run, and its verdicts.
func (c *replayCommand) tell(a *app, r *saved.Replay) {
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
