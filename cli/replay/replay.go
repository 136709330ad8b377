package replay

import (
	"fmt"

	"github.com/zksim/zksim/fuzz/show"
)

type Command struct {
	File  string `arg:"" help:"Scenario file."`
	Trace bool   `help:"Print the whole trace."`
	Step  bool   `help:"Walk through the trace: return shows the next line, ? lists the other keys."`
	Until *int64 `help:"Print the trace up to line N and the world as it was then; with --step begin there." placeholder:"N"`
	HTML  string `name:"html" help:"Write a picture of the run, an HTML page, to a file." placeholder:"OUT"`
	JSON  bool   `help:"Print JSON."`
}

// Help is the text of replay --help before the flags.
func (c *Command) Help() string {
	return "Its exit status, like that of run, is 0 if the run is as the file expects, also if that is " +
		"a violation. go test -zksim.replay fails as long as the violation shows."
}

func (c *Command) Run(p *Player) error {
	if err := c.check(); err != nil {
		return err
	}
	defer p.tests.close()
	view := p.view(c.File)
	view.Trace, view.Step, view.Until = c.Trace, c.Step, c.until()
	view.HTML, view.JSON = c.HTML, c.JSON
	if c.JSON {
		return p.show(view, p.Raw)
	}
	return p.show(view, p.Text)
}

// until is the line of --until, 0 without the flag.
func (c *Command) until() int64 {
	if c.Until == nil {
		return 0
	}
	return *c.Until
}

// check checks the flags.
func (c *Command) check() error {
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

// view is a view of the run of a scenario file.
func (p *Player) view(name string) show.View {
	return show.View{File: name, Repeat: p.Repeat(name)}
}
