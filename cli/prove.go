package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/show"
)

type proveCommand struct {
	Workload string        `arg:"" help:"Workload, such as lock or queue, or its implementation: zksim list shows them."`
	Impl     string        `help:"Implementation, as zksim list shows it." placeholder:"NAME"`
	Clients  int           `help:"Number of clients." default:"2"`
	Rounds   int           `help:"Rounds that each client plays." default:"1"`
	Faults   int           `help:"Greatest number of faults of a run." default:"1"`
	Seed     uint64        `help:"Seed of the script, which draws payloads and pauses by it." default:"1"`
	For      time.Duration `help:"Time after which it ends without a proof; 0 is no bound." default:"1m" placeholder:"DURATION"`
	Runs     int           `help:"Number of runs after which it ends without a proof; 0 is no bound." default:"0" placeholder:"N"`
	Save     string        `help:"Directory in which to save the violation." placeholder:"DIR"`
	HTML     string        `name:"html" help:"Directory in which to draw the violation, as an HTML page." placeholder:"DIR"`
}

// Run plays every run of a small script, and says what they have shown.
func (c *proveCommand) Run(a *app) error {
	t := target{Impl: c.Impl, Clients: c.Clients, Rounds: c.Rounds, Seed: c.Seed}
	t.Servers.Number = 1
	s, err := t.scenario(a.workloads, c.Workload)
	if err == nil {
		err = errors.Join(c.check(), command.CheckDir("--save", c.Save),
			command.CheckDir("--html", c.HTML))
	}
	if err != nil {
		return err
	}
	bounds := hunt.Bounds{Faults: c.Faults, Runs: c.Runs, For: c.For,
		Progress: func(p *hunt.Proof) {
			a.Progress.Show("%s: %d of an estimated %.0f runs, %d classes", s.Workload.Impl, p.Runs,
				p.Estimate(), p.Classes)
		}}
	p, ended := hunt.Prove(a.Context, s, bounds)
	if p == nil {
		return ended
	}
	if ended == nil && p.Holds() {
		if err := p.CheckJudged(); err != nil {
			return err
		}
	}
	a.Printf("%s %s: %s%s\n", s.Workload.Name, s.Workload.Impl, p,
		command.EndText(a.EndedBy(ended)))
	a.Printf("  %s begun, %d of them redundant; the clients have seen %d different ones\n",
		command.Plural(p.Runs, "run"), p.Redundant, p.Views)
	if p.Violation != nil {
		return a.Ending(true, c.show(a, p))
	}
	a.Printf("%s\n", p.Scope())
	if ended == nil && !p.Holds() {
		printUndecided(a.Env, p.FirstUndecided, false)
		return command.ErrViolated
	}
	return ended
}

func (c *proveCommand) check() error {
	switch {
	case c.Faults < 0 || c.Faults > hunt.MostFaults:
		return fmt.Errorf("--faults: %d; expected 0 to %d", c.Faults, hunt.MostFaults)
	case c.For < 0:
		return fmt.Errorf("--for: %v; expected 0s or more", c.For)
	case c.Runs < 0:
		return fmt.Errorf("--runs: %d; expected 0 or more", c.Runs)
	}
	return nil
}

// show prints the smallest scenario of the violation, and saves it.
func (c *proveCommand) show(a *app, p *hunt.Proof) error {
	a.Progress.Phase("making the violation of %s small", p.Violation.Property())
	small, finished, err := hunt.Minimize(a.Context, p.Violation)
	if err != nil {
		return err
	}
	unsteady := unsteadiness(small)
	a.Printf("\n%s is violated; the smallest scenario%s:\n\n%s", small.Property(),
		whyLarge(a.Env, finished), command.Indent(show.Story(small)))
	found := report.Violation{Property: small.Property()}
	return findings{a.Env, c.Save, c.HTML, false}.keep(&found, small, unsteady)
}
