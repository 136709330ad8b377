package cli

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/show"
)

type proveCommand struct {
	Workload string `arg:"" help:"Workload, such as lock or queue, or its implementation: zksim list shows them. Or an exhibit of the gallery, by its slug."`
	//lint:ignore SA5008 kong reads every set
	target  `embed:"" set:"clients=2" set:"rounds=1" set:"seed=script" set:"servers=0: one." set:"addresses=N"`
	Faults  int             `help:"Greatest number of faults of a run." default:"1"`
	Lasting []time.Duration `help:"Lengths of faults of the kinds that last, such as stall and restart, which are tried only with these." placeholder:"DURATION"`
	For     time.Duration   `help:"Time after which it ends without a proof, a minute unless given; 0 is no bound." default:"1m" placeholder:"DURATION"`
	Runs    int             `help:"Number of runs after which it ends without a proof; 0 is no bound." default:"0" placeholder:"N"`
	Resume  string          `help:"File with what is left to try: read if it is there, and written when the proof ends early. The same command then goes on." placeholder:"FILE"`
	output  `embed:""`

	pace pace
}

// pace says how fast a proof gets on.
type pace struct {
	began time.Time
	runs  int     // by then
	left  float64 // seconds, by the estimate; 0 if it is not known
}

func (q *pace) note(p *hunt.Proof, now time.Time) {
	if q.began.IsZero() {
		q.began, q.runs = now, p.Runs
	}
	q.left = 0
	if played := p.Runs - q.runs; played > 0 {
		q.left = max(0, p.Estimate-float64(p.Runs)) * now.Sub(q.began).Seconds() / float64(played)
	}
}

// text is a text with the time left, rounded up, "" if that is not known.
func (q *pace) text(format string) string {
	const most = 1000
	minutes := math.Ceil(q.left / 60)
	switch {
	case q.left == 0:
		return ""
	case minutes > most*60:
		return fmt.Sprintf(format, fmt.Sprintf("%dh", most))
	case minutes > 2*60:
		return fmt.Sprintf(format, fmt.Sprintf("%.0fh", math.Ceil(minutes/60)))
	}
	return fmt.Sprintf(format, fmt.Sprintf("%.0fm", minutes))
}

// Run plays every run of a small script, and says what they have shown.
func (c *proveCommand) Run(a *app) error {
	s, err := c.scenario(a.files, c.Workload) // exhibits of the gallery, too
	if err == nil {
		err = errors.Join(c.check(), c.checkDirs())
	}
	if err == nil && c.Resume != "" {
		err = command.CheckDir("--resume", filepath.Dir(c.Resume))
	}
	if err != nil {
		return err
	}
	// TestNoRecipeLooksAtCountsOfChildren keeps the promise of HideCounts for ours.
	_, notOurs := gallery.Catalogue().Find(s.Workload.Name, s.Workload.Impl)
	bounds := hunt.Bounds{Faults: c.Faults, Lasting: c.Lasting, HideCounts: notOurs == nil,
		Runs: c.Runs, For: c.For, Part: c.Shard, Resume: c.Resume,
		Progress: func(p *hunt.Proof) {
			c.pace.note(p, time.Now())
			a.Progress.Show("%s: %d of an estimated %.0f runs, %d classes%s", s.Workload.Impl, p.Runs,
				p.Estimate, p.Classes, c.pace.text(", %s left or more"))
		}}
	if c.Resume != "" {
		program, err := report.Program()
		if err != nil {
			return err
		}
		bounds.Work = fmt.Sprintf("%s %s; %s; --shard=%v; %s", s.Workload.Name, s.Workload.Impl,
			c.settings(), c.Shard, program)
	}
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

// viewsText is a number of views, of which a proof counts up to hunt.MostViews.
func viewsText(views int) string {
	if views == hunt.MostViews {
		return "at least 1,048,576"
	}
	return strconv.Itoa(views)
}

// settings are the flags that decide what the runs are, with their values.
func (c *proveCommand) settings() string {
	return fmt.Sprintf("%s; --faults=%d; --lasting=%v", c.target.settings(), c.Faults, c.Lasting)
}

// report prints a proof, which an error or an interrupt may have ended early.
func (c *proveCommand) report(a *app, p *hunt.Proof, ended error) error {
	s := p.Scenario
	r := report.Proof{Shard: report.ShardOf(c.Shard, c.settings()),
		Workload: s.Workload.Name, Implementation: s.Workload.Impl,
		Clients: c.Clients, Rounds: c.Rounds, Servers: max(1, c.Servers.Number),
		Goroutines: max(1, c.Goroutines),
		Careless:   c.Careless, Faults: c.Faults, Seed: c.Seed,
		Holds: p.Holds(), Complete: p.Complete, Sentence: p.String(), Runs: p.Runs,
		Estimate: p.Estimate, Classes: p.Classes, Redundant: p.Redundant, Views: p.Views,
		Undecided: p.Undecided, Scope: p.Scope()}
	for _, d := range c.Lasting {
		r.Lasting = append(r.Lasting, d.String())
	}
	if c.Shard != (hunt.Part{}) {
		r.Views = 0
	}
	r.Interrupted, r.Error = a.EndedBy(ended)
	if !c.JSON {
		a.Printf("%s %s: %s%s\n", r.Workload, r.Implementation, p,
			command.EndText(r.Interrupted, r.Error))
	}
	if !c.JSON && (r.Scope != nil || p.Violation != nil) {
		a.Printf("  %s begun, %d of them redundant; %s different views of the clients\n",
			command.Plural(p.Runs, "run"), p.Redundant, viewsText(p.Views))
	}
	switch {
	case p.Violation != nil:
		found, smallest, err := c.show(a, p)
		r.Violation, r.Smallest, ended = &found, smallest, errors.Join(ended, err)
	case !c.JSON:
		if r.Scope != nil {
			a.Printf("%s\n", r.Scope)
		}
		printUndecided(a.Env, p.FirstUndecided, false)
		switch {
		case p.Complete || r.Error != "":
		case c.Resume != "":
			a.Printf("what is left is in %s: the same command goes on%s\n", c.Resume,
				c.pace.text(", by the estimate for %s or more"))
		default:
			a.Printf("to get further, add --for 10m --resume FILE, and give that command until it is done%s\n",
				c.pace.text(": by the estimate, which often grows, in %s or more"))
		}
	}
	if c.JSON {
		ended = errors.Join(ended, a.JSON(r))
	}
	return a.Ending(ended == nil && !r.Holds || p.Violation != nil, ended)
}

func (c *proveCommand) check() error {
	switch {
	case c.Servers.Simulated() != nil:
		return fmt.Errorf("--servers: %v; expected a number: a proof plays simulations only",
			c.Servers)
	case c.For < 0:
		return fmt.Errorf("--for: %v; expected 0s or more", c.For)
	case c.Runs < 0:
		return fmt.Errorf("--runs: %d; expected 0 or more", c.Runs)
	}
	if err := (hunt.Bounds{Faults: c.Faults, Lasting: c.Lasting}).Check(); err != nil {
		return fmt.Errorf("--%w", err)
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
	return found, smallest, c.findings(a.Env).keep(&found, small, unsteady)
}
