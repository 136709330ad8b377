package replay

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/show"
)

type DiffCommand struct {
	A       string `arg:"" help:"Scenario file, or a trace that zksim replay --trace has printed."`
	B       string `arg:"" help:"The same, to compare with."`
	Context int    `help:"Lines to show before and after the first difference." default:"5"`
}

// Run compares two traces and prints the first difference.
func (c *DiffCommand) Run(p *Player) error {
	if c.Context < 0 {
		return fmt.Errorf("--context must not be negative")
	}
	defer p.tests.close()
	left, err := p.traceOf(c.A)
	if err != nil {
		return err
	}
	right, err := p.traceOf(c.B)
	if err != nil {
		return err
	}
	text, equal := show.Diff(left, right, c.Context)
	p.Printf("%s", text)
	if !equal {
		return command.ErrViolated
	}
	return nil
}

// traceOf plays a scenario file and returns its trace, or reads the trace from a text.
func (p *Player) traceOf(name string) ([]string, error) {
	if saved.IsScenario(name) {
		view := p.view(name)
		view.Trace = true
		var text bytes.Buffer
		if err := p.show(view, &text); err != nil && !errors.Is(err, command.ErrViolated) {
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
