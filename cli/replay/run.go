package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

type RunCommand struct {
	Files   []string         `arg:"" name:"file" help:"Scenario files."`
	Servers scenario.Servers `help:"The addresses of a running ensemble to play the files on, in real time." default:"1" placeholder:"HOST:PORT,..."`
	JSON    bool             `help:"Print JSON."`
}

// Run plays scenario files and compares the runs with their expectations. After a file that cannot
// be played it goes on with the next one.
func (c *RunCommand) Run(p *Player) error {
	if err := c.reach(p); err != nil {
		return err
	}
	defer p.tests.close()
	var status error
	all := []json.RawMessage{}
	for i, name := range c.Files {
		view := p.view(name)
		view.Line, view.JSON = true, c.JSON
		var text bytes.Buffer
		err := p.show(view, &text)
		if p.Interrupted(err) {
			status = worse(status, err)
			if !c.JSON {
				p.Printf("%d of %s played; interrupted\n", i, command.Plural(len(c.Files), "file"))
			}
			break
		}
		if err != nil && !errors.Is(err, command.ErrViolated) {
			p.PrintError(err)
			text.Reset()
			if err := show.WriteJSON(&text,
				show.Replayed{File: name, Problems: []string{}, Error: err.Error()}); err != nil {
				return err
			}
			err = command.Status(command.ExitInput)
		}
		if c.JSON {
			all = append(all, text.Bytes())
		} else if !errors.As(err, new(command.Status)) {
			p.Printf("%s", &text)
		}
		status = worse(status, err)
		p.Progress.Show("%d of %d files", i+1, len(c.Files))
	}
	if c.JSON {
		if err := p.JSON(all); err != nil {
			return err
		}
	}
	return status
}

// reach connects to the addresses of the flag.
func (c *RunCommand) reach(p *Player) error {
	if c.Servers.Number != 1 && c.Servers.Simulated() == nil {
		return fmt.Errorf("--servers: %s; expected addresses: a file has the number of its "+
			"simulated servers", c.Servers)
	}
	return p.Reach(&c.Servers)
}

// worse is the error that decides the exit status: that of a run that is not as expected, or else
// the first one.
func worse(a, b error) error {
	if a == nil || errors.Is(b, command.ErrViolated) {
		return b
	}
	return a
}
