package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/show"
)

type diffCommand struct {
	A       string `arg:"" help:"Scenario file, or a trace that zksim replay --trace has printed."`
	B       string `arg:"" help:"The same, to compare with."`
	Context int    `help:"Lines to show before and after the first difference." default:"5"`
}

// Run compares two traces and prints the first difference.
func (c *diffCommand) Run(a *app) error {
	if c.Context < 0 {
		return fmt.Errorf("--context must not be negative")
	}
	defer a.tests.close()
	left, err := a.traceOf(c.A)
	if err != nil {
		return err
	}
	right, err := a.traceOf(c.B)
	if err != nil {
		return err
	}
	text, equal := show.Diff(left, right, c.Context)
	a.Printf("%s", text)
	if !equal {
		return command.ErrViolated
	}
	return nil
}

// traceOf plays a scenario file and returns its trace, or reads the trace from a text.
func (a *app) traceOf(name string) ([]string, error) {
	if saved.IsScenario(name) {
		view := a.view(name)
		view.Trace = true
		var text bytes.Buffer
		if err := a.show(view, &text); err != nil && !errors.Is(err, command.ErrViolated) {
			return nil, err
		}
		return show.PrintedTrace(name, text.String())
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return show.PrintedTrace(name, string(text))
}
