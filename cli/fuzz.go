package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/spelling"
)

type fuzzCommand struct {
	Workload string `arg:"" optional:"" help:"Workload, such as lock or queue, or its implementation: zksim list shows them. Without one, or with all: every workload that is not known to be flawed."`
	//lint:ignore SA5008 kong reads every set
	target           `embed:"" set:"clients=3" set:"rounds=2"`
	Runs             *int           `help:"Number of scenarios to try, those of --corpus not counted (default: 1000, or 32 on a running ensemble, or no bound with --for)." placeholder:"N"`
	For              *time.Duration `help:"Time to hunt, that for --corpus not counted." placeholder:"DURATION"`
	Strategy         []string       `help:"Strategies to use, as zksim list shows them (default: all, each with its share)." placeholder:"NAME"`
	MaxFaults        int            `help:"Greatest number of faults in a plan; 0 hunts without faults." default:"4"`
	Findings         int            `help:"Number of different violations to stop after, those of the corpus included. Orphans and herds count only with --property." default:"1"`
	Property         []string       `help:"Violations of these properties count; all unless given." placeholder:"NAME"`
	Known            []string       `help:"A saved finding. Violations that differ from it only in names and numbers, and blame no znode made elsewhere in the code, do not count." placeholder:"FILE"`
	Corpus           string         `help:"Directory of the scenarios that showed new behaviour. The hunt plays them first and adds new ones; the same seed then continues with other scenarios." placeholder:"DIR"`
	CheckDeterminism bool           `help:"Run every scenario twice and compare the traces."`
	Unsteady         bool           `help:"Keep findings of code that is not deterministic: do not make them small, and count how many of 20 more runs show them."`
	output           `embed:""`

	bounds bounds              // of --runs and --for
	known  []*scenario.Outcome // of --known
}

// Run hunts in one workload or in all.
func (c *fuzzCommand) Run(a *app) error {
	if err := a.Reach(&c.Servers); err != nil {
		return err
	}
	if c.Workload == "" || c.Workload == allWorkloads {
		return c.runAll(a)
	}
	return c.runOne(a)
}

// runOne hunts in one workload.
func (c *fuzzCommand) runOne(a *app) error {
	s, err := c.scenario(a.workloads, c.Workload)
	if err == nil {
		err = errors.Join(c.check(), c.checkProperties(s.Workload))
	}
	if err == nil {
		err = c.playKnown(a)
	}
	if err != nil {
		return err
	}
	scenarios, err := corpus{a.Env, c.Corpus}.load(a.workloads)
	if err != nil {
		return err
	}
	unit := 0
	h, err := c.hunt(a, s, &unit, c.bounds, scenarios, "")
	if err != nil {
		return err
	}
	result, err := c.report(a, s, h)
	if err == nil {
		err = h.ended
	}
	result.Shard = c.shard()
	if c.JSON {
		err = errors.Join(err, a.JSON(result))
	} else {
		c.conclude(a, result)
	}
	return a.Ending(result.Bad(), err)
}

// conclude prints the last lines about a hunt.
func (c *fuzzCommand) conclude(a *app, h report.Hunt) {
	switch {
	case h.Error != "": // printed by the caller
	case h.Runs+h.Replayed == 0:
		a.Printf("nothing was tried\n")
	case h.Open(): // the summary says so
	case len(h.Findings) == 0:
		a.Printf("no violation found\n%s\n", h.Judged)
	}
	if h.Replayed > 0 && *h.Kept == 0 && h.Finished() && len(h.Findings) == 0 {
		a.Printf("nothing was added to the corpus, so the same command would hunt the same " +
			"again: go on with another --seed\n")
	}
	if h.Divergences != nil {
		a.Printf("determinism: %s run twice, %s\n",
			command.Plural(h.Replayed+h.Runs, "scenario"),
			command.Plural(*h.Divergences, "divergence"))
	}
}

// defaultRuns is the bound of a hunt without --runs and --for.
const defaultRuns = 1000

// check checks the flags before any other work, and sets the bounds.
func (c *fuzzCommand) check() error {
	if c.Runs == nil && c.For == nil {
		if c.bounds.runs = defaultRuns; c.Servers.On() != nil {
			c.bounds.runs = hunt.RunsOnEnsemble
		}
	}
	if c.Servers.On() != nil && (c.CheckDeterminism || c.Corpus != "") {
		return errors.New("--check-determinism and --corpus go without the addresses of --servers")
	}
	if c.Runs != nil {
		if c.bounds.runs = *c.Runs; *c.Runs < 1 {
			return fmt.Errorf("--runs: %d; expected 1 or more", *c.Runs)
		}
	}
	if c.For != nil {
		if c.bounds.time = *c.For; *c.For <= 0 {
			return fmt.Errorf("--for: %v; expected more than 0s", *c.For)
		}
	}
	if c.MaxFaults < 0 || c.MaxFaults > hunt.MostFaults {
		return fmt.Errorf("--max-faults: %d; expected 0 to %d", c.MaxFaults, hunt.MostFaults)
	}
	if c.Findings < 1 {
		return fmt.Errorf("--findings: %d; expected 1 or more", c.Findings)
	}
	return errors.Join(c.checkDirs(), command.CheckDir("--corpus", c.Corpus))
}

// checkProperties returns an error if no run of the workloads can violate some property of
// --property: a hunt for it would find nothing, however wrong the code is.
func (c *fuzzCommand) checkProperties(workloads ...scenario.Workload) error {
	of := "these workloads"
	if len(workloads) == 1 {
		of = workloads[0].Name + " " + workloads[0].Impl
	}
	var may []string
	for _, w := range workloads {
		for _, p := range w.MayViolate() {
			if !slices.Contains(may, p) {
				may = append(may, p)
			}
		}
	}
	for _, p := range c.Property {
		if !slices.Contains(may, p) {
			return fmt.Errorf("--property: %q%s; no run of %s can violate it; expected one of %s",
				p, spelling.Meant(p, may), of, strings.Join(may, ", "))
		}
	}
	return nil
}

// countedIn lists the properties of --property that a run of the workload can violate.
func (c *fuzzCommand) countedIn(w scenario.Workload) []string {
	may := w.MayViolate()
	return slices.DeleteFunc(slices.Clone(c.Property), func(p string) bool {
		return !slices.Contains(may, p)
	})
}

// shard is the part of this process in the work.
func (c *fuzzCommand) shard() report.Shard {
	return report.ShardOf(c.Shard, fmt.Sprintf("%s; --runs=%v; --for=%v; --strategy=%v; "+
		"--max-faults=%v; --findings=%v; --property=%v", c.settings(), c.bounds.runs, c.bounds.time,
		c.Strategy, c.MaxFaults, c.Findings, c.Property))
}

// playKnown plays the files of --known.
func (c *fuzzCommand) playKnown(a *app) error {
	for _, name := range c.Known {
		file, err := saved.Load(name, a.workloads.Find)
		if err != nil {
			return fmt.Errorf("--known: %w", err)
		}
		o, err := saved.Play(file.Scenario)
		if err != nil {
			return fmt.Errorf("--known: %s: %w", name, err)
		}
		if o.Property() == "" {
			return fmt.Errorf("--known: %s: nothing is violated", name)
		}
		c.known = append(c.known, o)
	}
	return nil
}

// bounds are the bounds of a hunt; 0 is no bound.
type bounds struct {
	runs int
	time time.Duration
}

// hunted is the result of a hunt.
type hunted struct {
	*hunt.Found
	kept  int   // number of files added to the corpus
	ended error // the error or interrupt that ended it early, nil if there was none

	within bounds
	took   time.Duration
}

// cutOff says how far the hunt got, if it ended before it reached its bound, and not because of its
// findings.
func (h hunted) cutOff(enough int) string {
	done := h.ended == nil && (h.Exhausted || len(h.Findings) >= enough)
	switch {
	case done:
	case h.within.runs > 0 && h.Runs < h.within.runs:
		return fmt.Sprintf("%d of %d scenarios tried", h.Runs, h.within.runs)
	case h.ended != nil && h.within.time > 0:
		return fmt.Sprintf("%v of %v passed", h.took.Round(time.Second), h.within.time)
	}
	return ""
}

// hunt runs a hunt with progress; the line of progress begins with about. unit is the number of the
// hunt's first leg among those that shards divide, and then that of the next hunt. After an error
// there are no results.
func (c *fuzzCommand) hunt(
	a *app, s scenario.Scenario, unit *int, within bounds, played []inCorpus, about string,
) (h hunted, err error) {
	hunt := hunt.Hunt{
		Workload: s.Workload, Script: s.Script, Seed: s.Seed, On: s.On,
		Runs: within.runs, For: within.time, Part: c.Shard, Unit: *unit, Work: c.bounds.runs,
		Findings:   c.Findings,
		More:       hunt.MoreAfter(within.runs),
		Strategies: c.Strategy, MaxFaults: c.MaxFaults, NoFaults: c.MaxFaults == 0,
		CheckDeterminism: c.CheckDeterminism,
		Known: ofWorkload(c.known, s.Workload, func(o *scenario.Outcome) scenario.Workload {
			return o.Scenario.Workload
		}),
		Properties: c.countedIn(s.Workload),
	}
	played = ofWorkload(played, s.Workload, workloadOf)
	for _, p := range played {
		hunt.Corpus = append(hunt.Corpus, p.scenario)
	}
	*unit += hunt.Legs()
	hunt.Progress = showHunt(a, about, len(hunt.Corpus))
	if c.Corpus != "" {
		hunt.Keep = func(o *scenario.Outcome) error {
			added, err := corpus{a.Env, c.Corpus}.keep(o)
			if added {
				h.kept++
			}
			return err
		}
	}
	began := time.Now()
	h.Found, h.ended = hunt.Run(a.Context)
	h.within, h.took = within, time.Since(began)
	if h.Found == nil {
		return h, h.ended
	}
	corpus{a.Env, c.Corpus}.tellIdle(played, h.Idle)
	if h.ended == nil && h.Runs > 0 && len(h.Findings)+len(h.Divergences) == 0 {
		err = h.CheckJudged()
	}
	if err != nil && c.Shard.String() != "" && h.Runs < telling {
		a.Note("%v", err) // the other shards have more
		err = nil
	}
	return h, err
}

// showHunt shows the progress of a hunt, first that of its corpus.
func showHunt(a *app, about string, corpus int) func(*hunt.Found) {
	start, fresh, last := time.Now(), time.Now(), 0
	return func(f *hunt.Found) {
		if f.Behaviours > last {
			fresh, last = time.Now(), f.Behaviours
		}
		if f.Replayed < corpus {
			a.Progress.Show("%s%d of %d scenarios of the corpus, %s",
				about, f.Replayed, corpus, command.Plural(len(f.Findings), "finding"))
			return
		}
		a.Progress.Show("%s%s, %s, %s, %s (new %.0f s ago), %.0f/s", about,
			command.Plural(f.Runs, "scenario"), command.Plural(len(f.Findings), "finding"),
			command.Plural(f.Traces, "trace"), command.Plural(f.Behaviours, "behaviour"),
			time.Since(fresh).Seconds(), float64(f.Replayed+f.Runs)/time.Since(start).Seconds())
	}
}
