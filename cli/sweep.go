package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// target are the flags that select the workload and its script.
type target struct {
	Impl       string           `help:"Implementation, as zksim list shows it." placeholder:"NAME"`
	Clients    int              `help:"Number of clients." default:"${clients}"`
	Rounds     int              `help:"Rounds that each client plays." default:"${rounds}"`
	Goroutines int              `help:"Goroutines of each client that share one object; 0: one, or up to three in some scenarios of a hunt." default:"0"`
	Servers    scenario.Servers `help:"Servers of the ensemble; followers answer reads a little late. ${servers=0: one, or three in some scenarios of a hunt. Or the addresses of a running ensemble to play on, in real time.}" default:"0" placeholder:"${addresses=N|HOST:PORT,...}"`
	Careless   bool             `help:"Let clients close objects in use, call with contexts that are done, and try before they wait."`
	Seed       uint64           `help:"Seed of the ${seed=schedule}." default:"1"`
}

// settings are the flags with their values.
func (t target) settings() string {
	return fmt.Sprintf("--impl=%v; --clients=%v; --rounds=%v; --goroutines=%v; --servers=%v; "+
		"--careless=%v; --seed=%v",
		t.Impl, t.Clients, t.Rounds, t.Goroutines, t.Servers, t.Careless, t.Seed)
}

// find finds a workload by its kind, or by the name of an implementation that one kind has.
func (t target) find(workloads scenario.Catalogue, name string) (scenario.Workload, error) {
	if t.Impl != "" || slices.Contains(workloads.Kinds(), name) {
		return workloads.Find(name, t.Impl)
	}
	var found []scenario.Workload
	for _, w := range workloads {
		if w.Impl == name {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 0:
		return workloads.Find(name, "")
	case 1:
		return found[0], nil
	}
	var kinds []string
	for _, w := range found {
		kinds = append(kinds, w.Name)
	}
	return scenario.Workload{}, fmt.Errorf(
		"%d workloads have an implementation %q: %s; name one of them, with --impl %s",
		len(found), name, strings.Join(kinds, ", "), name)
}

// scenario is the scenario without faults of a workload with a name.
func (t target) scenario(workloads scenario.Catalogue, name string) (scenario.Scenario, error) {
	w, err := t.find(workloads, name)
	if err != nil {
		return scenario.Scenario{}, err
	}
	return t.scenarioOf(w)
}

// scenarioOf is the scenario without faults of a workload.
func (t target) scenarioOf(w scenario.Workload) (scenario.Scenario, error) {
	s := scenario.Scenario{
		Workload: w, Script: scenario.Script{
			Clients: t.Clients, Rounds: t.Rounds, Goroutines: t.Goroutines,
			Servers:  t.Servers.Number,
			Careless: t.Careless,
		}, Seed: t.Seed,
	}
	return s.PlayedOn(t.Servers.On()), s.Validate()
}

type sweepCommand struct {
	Workload string `arg:"" help:"Workload, such as lock or queue, or its implementation: zksim list shows them."`
	//lint:ignore SA5008 kong reads every set
	target `embed:"" set:"clients=3" set:"rounds=2"`
	output `embed:""`
}

// Run sweeps and makes one violation of each property small.
func (c *sweepCommand) Run(a *app) error {
	if err := a.Reach(&c.Servers); err != nil {
		return err
	}
	s, err := c.scenario(a.workloads, c.Workload)
	if err == nil {
		err = c.checkDirs()
	}
	if err != nil {
		return err
	}
	sweep, ended := runSweep(a.Env, s, c.Shard)
	if sweep == nil {
		return ended
	}
	return c.report(a, s, sweep, ended)
}

// report prints the result of a sweep, which an error or an interrupt may have ended early.
func (c *sweepCommand) report(a *app, s scenario.Scenario, sweep *hunt.Sweep, ended error) error {
	result := report.Sweep{
		Shard:    report.ShardOf(c.Shard, c.settings()),
		Workload: s.Workload.Name, Implementation: s.Workload.Impl,
		Total: sweep.Total, Points: sweep.Points, Known: sweep.Known,
		Survived: sweep.Survived, Undecided: sweep.Undecided, Missed: sweep.Missed,
		Judged:     sweep.Judged(),
		Violations: []report.Violation{},
	}
	result.Interrupted, result.Error = a.EndedBy(ended)
	if !c.JSON {
		a.Printf("%s%s\n", sweepLine(s, sweep), command.EndText(result.Interrupted, result.Error))
		if len(sweep.Violations) == 0 {
			a.Printf("%s\n", result.Judged)
		}
	}
	for _, v := range sweep.Violations {
		found, err := c.show(a, v)
		if err != nil {
			return a.Ending(true, err)
		}
		result.Violations = append(result.Violations, found)
	}
	if ended == nil {
		ended = a.Context.Err() // an interrupt while violations were made small
	}
	result.Interrupted = a.Context.Err() != nil
	if c.JSON {
		ended = errors.Join(ended, a.JSON(result))
	}
	open := report.AllOpen(sweep.Undecided, sweep.Points)
	if !c.JSON {
		printUndecided(a.Env, sweep.FirstUndecided, open)
	}
	return a.Ending(open || len(sweep.Violations) > 0, ended)
}

// runSweep runs a sweep with progress. The result is nil if there was nothing to judge.
func runSweep(env *command.Env, s scenario.Scenario, part hunt.Part) (*hunt.Sweep, error) {
	sweep, err := hunt.RunSweep(env.Context, s, part, func(done, total int) {
		env.Progress.Show("%d of %d fault points of %s", done, total, s.Workload.Impl)
	})
	if err != nil || len(sweep.Violations) > 0 {
		return sweep, err
	}
	if err := sweep.CheckJudged(); err != nil {
		return nil, err
	}
	return sweep, nil
}

// manner is a text about the further flags of a script.
func manner(s scenario.Script) string {
	text := ""
	if s.Goroutines > 1 {
		text = fmt.Sprintf(" x %d goroutines", s.Goroutines)
	}
	if s.Servers > 1 {
		text += fmt.Sprintf(", %d servers", s.Servers)
	}
	if s.Careless {
		text += ", careless"
	}
	return text
}

// sweepLine is one line about a sweep.
func sweepLine(s scenario.Scenario, sweep *hunt.Sweep) string {
	line := fmt.Sprintf("%s %s, %d clients x %d rounds%s: survived %d of %d fault points",
		s.Workload.Name, s.Workload.Impl, s.Script.Clients, s.Script.Rounds, manner(s.Script),
		sweep.Survived, sweep.Points)
	if sweep.Points < sweep.Total {
		line += fmt.Sprintf(" tried, of %d", sweep.Total)
	}
	var notes []string
	if sweep.Known > 0 {
		notes = append(notes, fmt.Sprintf("%d played, %d known from their runs",
			sweep.Points-sweep.Known, sweep.Known))
	}
	if sweep.Undecided > 0 {
		notes = append(notes, fmt.Sprintf("%d undecided", sweep.Undecided))
	}
	if notes != nil {
		line += " (" + strings.Join(notes, ", ") + ")"
	}
	return line
}

// show prints a violation unless JSON is asked for: the number of fault points and the smallest
// scenario, which it saves.
func (c *sweepCommand) show(a *app, v hunt.Violation) (report.Violation, error) {
	a.Progress.Phase("making the violation of %s small", v.Property)
	small, finished, err := hunt.Minimize(a.Context, v.First)
	if err != nil {
		return report.Violation{}, err
	}
	found := report.Violation{
		Property: small.Property(), Bug: v.Bug, First: &v.Number, Points: len(v.Faults),
		Minimal: show.OutcomeOf(small),
		Maker:   small.Maker(), Unfinished: !finished,
	}
	unsteady := unsteadiness(small)
	found.Unsteady = unsteady != nil
	if !c.JSON {
		which := "the smallest scenario"
		if large := whyLarge(a.Env, finished); large != "" {
			which = "a scenario" + large
		}
		a.Printf("\n%s is violated at %s (%s); %s:\n\n%s",
			found.Property, command.Plural(found.Points, "point"), kindsOf(v.Faults), which,
			command.Indent(show.Story(small)))
	}
	return found, c.findings(a.Env).keep(&found, small, unsteady)
}

// whyLarge is a text about a scenario that may not be as small as possible, "" for one that is.
func whyLarge(env *command.Env, finished bool) string {
	if large := hunt.WhyLarge(env.Context, finished); large != "" {
		return " (" + large + ")"
	}
	return ""
}

// kindsOf is a text with the kinds of faults, each once.
func kindsOf(faults []fault.Fault) string {
	var kinds []string
	for _, f := range faults {
		if k := string(f.Kind); k != "" && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return "without any fault"
	}
	return strings.Join(kinds, ", ")
}
