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
	Workload string        `arg:"" help:"Workload, such as lock or queue, or its implementation: zksim list shows them. Or an exhibit of the gallery, by its slug."`
	Impl     string        `help:"Implementation, as zksim list shows it." placeholder:"NAME"`
	Clients  int           `help:"Number of clients." default:"2"`
	Rounds   int           `help:"Rounds that each client plays." default:"1"`
	Faults   int           `help:"Greatest number of faults of a run." default:"1"`
	Seed     uint64        `help:"Seed of the script, which draws payloads and pauses by it." default:"1"`
	For      time.Duration `help:"Time after which it ends without a proof; 0 is no bound." default:"1m" placeholder:"DURATION"`
	Runs     int           `help:"Number of runs after which it ends without a proof; 0 is no bound." default:"0" placeholder:"N"`
	Save     string        `help:"Directory in which to save the violation." placeholder:"DIR"`
	HTML     string        `name:"html" help:"Directory in which to draw the violation, as an HTML page." placeholder:"DIR"`
	JSON     bool          `help:"Print JSON."`
}

// Run plays every run of a small script, and says what they have shown.
func (c *proveCommand) Run(a *app) error {
	t := target{Impl: c.Impl, Clients: c.Clients, Rounds: c.Rounds, Seed: c.Seed}
	t.Servers.Number = 1
	s, err := t.scenario(a.files, c.Workload) // exhibits of the gallery, too
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
	return c.report(a, p, ended)
}

// A proofReport is a proof for programs.
type proofReport struct {
	Workload       string `json:"workload"`
	Implementation string `json:"implementation"`
	Clients        int    `json:"clients"`
	Rounds         int    `json:"rounds"`
	Faults         int    `json:"faults"`
	Seed           uint64 `json:"seed"`
	// Holds says that all runs were tried, and none violates anything.
	Holds     bool    `json:"holds"`
	Complete  bool    `json:"complete"`
	Sentence  string  `json:"sentence"`
	Runs      int     `json:"runs"`
	Estimate  float64 `json:"estimate"`
	Classes   int     `json:"classes"`
	Redundant int     `json:"redundant"`
	Views     int     `json:"views"`
	Undecided int     `json:"undecided"`
	Scope     string  `json:"scope"`

	Interrupted bool              `json:"interrupted"`
	Error       string            `json:"error,omitempty"` // that ended it early
	Violation   *report.Violation `json:"violation,omitempty"`
	// Smallest says in a sentence that no run with fewer faults violates anything, if that is known
	// of the violation.
	Smallest string `json:"smallest,omitempty"`
}

// report prints a proof, which an error or an interrupt may have ended early.
func (c *proveCommand) report(a *app, p *hunt.Proof, ended error) error {
	s := p.Scenario
	r := proofReport{Workload: s.Workload.Name, Implementation: s.Workload.Impl,
		Clients: c.Clients, Rounds: c.Rounds, Faults: c.Faults, Seed: c.Seed,
		Holds: p.Holds(), Complete: p.Complete, Sentence: p.String(), Runs: p.Runs,
		Estimate: p.Estimate(), Classes: p.Classes, Redundant: p.Redundant, Views: p.Views,
		Undecided: p.Undecided, Scope: p.Scope()}
	r.Interrupted, r.Error = a.EndedBy(ended)
	if !c.JSON {
		a.Printf("%s %s: %s%s\n", r.Workload, r.Implementation, p,
			command.EndText(r.Interrupted, r.Error))
		a.Printf("  %s begun, %d of them redundant; the clients have seen %d different ones\n",
			command.Plural(p.Runs, "run"), p.Redundant, p.Views)
	}
	switch {
	case p.Violation != nil:
		found, smallest, err := c.show(a, p)
		r.Violation, r.Smallest, ended = &found, smallest, errors.Join(ended, err)
	case !c.JSON:
		a.Printf("%s\n", p.Scope())
		printUndecided(a.Env, p.FirstUndecided, false)
	}
	if c.JSON {
		ended = errors.Join(ended, a.JSON(r))
	}
	return a.Ending(ended == nil && !r.Holds || p.Violation != nil, ended)
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

// show makes the violation small, prints it unless JSON is asked for, and saves it. It returns what
// the proof says of it, too.
func (c *proveCommand) show(a *app, p *hunt.Proof) (
	found report.Violation, smallest string, err error,
) {
	found = report.Violation{Property: p.Violation.Property(), Points: 1}
	a.Progress.Phase("making the violation of %s small", found.Property)
	small, finished, err := hunt.Minimize(a.Context, p.Violation)
	if err != nil {
		return found, "", err
	}
	unsteady, scope := unsteadiness(small), ""
	if unsteady == nil {
		a.Progress.Phase("proving that fewer faults do not do")
		smallest, scope = p.Smallest(a.Context, small)
	}
	found.Minimal, found.Maker = show.OutcomeOf(small), small.Maker()
	found.Unfinished, found.Unsteady = !finished, unsteady != nil
	if !c.JSON {
		a.Printf("\n%s is violated; the smallest scenario%s:\n\n%s", small.Property(),
			whyLarge(a.Env, finished), command.Indent(show.Story(small)))
	}
	if !c.JSON && smallest != "" {
		a.Printf("\nsmallest: %s\n", smallest)
		if scope != "" {
			a.Printf("%s\n", scope)
		}
	}
	return found, smallest, findings{a.Env, c.Save, c.HTML, c.JSON}.keep(&found, small, unsteady)
}
