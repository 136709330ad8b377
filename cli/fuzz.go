package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

type fuzzCommand struct {
	Workload         string `arg:"" optional:"" help:"Workload, such as lock or queue, or its implementation: zksim list shows them. Without one, or with all, each that is not known to be flawed."`
	target           `embed:""`
	Runs             *int           `help:"Stop after so many scenarios besides those of --corpus (default: 1000, or none with --for)." placeholder:"N"`
	For              *time.Duration `help:"Stop after this much time, that for --corpus not counted." placeholder:"DURATION"`
	Strategy         []string       `help:"Strategies to use, as zksim list shows them (default: all, each with its share)." placeholder:"NAME"`
	MaxFaults        int            `help:"Faults in a plan, at most." default:"4"`
	Findings         int            `help:"Stop after so many violations that read differently before they are made small; those of the corpus count." default:"1"`
	Corpus           string         `help:"Directory of what has shown new behaviour: all of it is played first, and it is added to; with the same seed the hunt goes on elsewhere the more it holds." placeholder:"DIR"`
	Save             string         `help:"Directory in which to save what was found." placeholder:"DIR"`
	CheckDeterminism bool           `help:"Run every scenario twice and compare the traces."`
	JSON             bool           `help:"Print JSON."`

	bounds bounds // by --runs and --for
}

func (c *fuzzCommand) Run(a *app) error {
	if c.Workload == "" || c.Workload == allWorkloads {
		return c.runAll(a)
	}
	s, err := c.scenario(a.workloads, c.Workload)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return err
	}
	corpus, err := a.loadCorpus(c.Corpus)
	if err != nil {
		return err
	}
	h, err := c.hunt(a, s, c.bounds, corpus, "")
	if err != nil {
		return err
	}
	report, err := c.report(a, s, h)
	if err == nil {
		err = h.ended
	}
	if c.JSON {
		err = errors.Join(err, a.json(report))
	} else {
		c.conclude(a, report)
	}
	return a.ending(report.bad(), err)
}

// conclude says in words what was not found.
func (c *fuzzCommand) conclude(a *app, report fuzzJSON) {
	switch {
	case report.Error != "": // which is told
	case report.Runs+report.Replayed == 0:
		a.printf("nothing was tried\n")
	case len(report.Findings) == 0:
		a.printf("no violation found\n")
	}
	if report.Replayed > 0 && *report.Kept == 0 && !report.Interrupted && report.Error == "" && len(report.Findings) == 0 {
		a.printf("nothing was added to the corpus, so the same command would hunt the same again: go on with another --seed\n")
	}
	if report.Divergences != nil {
		a.printf("determinism: %s run twice, %s\n", plural(report.Replayed+report.Runs, "scenario"), plural(*report.Divergences, "divergence"))
	}
}

// check looks at the flags before any work is done, and sets its bounds.
func (c *fuzzCommand) check() error {
	switch {
	case c.Runs != nil && *c.Runs < 1:
		return fmt.Errorf("--runs: %d; expected 1 or more", *c.Runs)
	case c.For != nil && *c.For <= 0:
		return fmt.Errorf("--for: %v; expected more than nothing", *c.For)
	case c.Runs == nil && c.For == nil:
		c.bounds.runs = 1000
	}
	if c.Runs != nil {
		c.bounds.runs = *c.Runs
	}
	if c.For != nil {
		c.bounds.time = *c.For
	}
	if c.MaxFaults < 1 || c.MaxFaults > hunt.MostFaults {
		return fmt.Errorf("--max-faults: %d; expected 1 to %d", c.MaxFaults, hunt.MostFaults)
	}
	if c.Findings < 1 {
		return fmt.Errorf("--findings: %d; expected 1 or more", c.Findings)
	}
	return errors.Join(checkDir("--save", c.Save), checkDir("--corpus", c.Corpus))
}

// bounds are where a hunt ends; 0 is no bound.
type bounds struct {
	runs int
	time time.Duration
}

// hunted is what a hunt has led to.
type hunted struct {
	*hunt.Found
	kept  int   // files added to the corpus
	ended error // what has ended it early, the context's or another; nil if it came to its end
}

// hunt runs a hunt with progress, which a text goes before. An error means that there is
// nothing to tell of.
func (c *fuzzCommand) hunt(a *app, s scenario.Scenario, within bounds, corpus []scenario.Scenario, about string) (h hunted, err error) {
	hunt := hunt.Hunt{
		Workload: s.Workload, Script: s.Script, Seed: s.Seed, Runs: within.runs, For: within.time, Strategies: c.Strategy,
		MaxFaults: c.MaxFaults, Findings: c.Findings, CheckDeterminism: c.CheckDeterminism,
		Corpus: ofWorkload(corpus, s.Workload),
	}
	hunt.Progress = showHunt(a, about, len(hunt.Corpus))
	if c.Corpus != "" {
		hunt.Keep = func(o *scenario.Outcome) error {
			added, err := a.keep(c.Corpus, o)
			if added {
				h.kept++
			}
			return err
		}
	}
	if h.Found, h.ended = hunt.Run(a.ctx); h.Found == nil {
		return h, h.ended
	}
	if h.ended == nil && len(h.Findings)+len(h.Divergences) == 0 {
		err = h.CheckJudged()
	}
	return h, err
}

// showHunt tells of a hunt under way on one line, and before that of its corpus.
func showHunt(a *app, about string, corpus int) func(*hunt.Found) {
	start, fresh, last := time.Now(), time.Now(), 0
	return func(f *hunt.Found) {
		if f.Behaviours > last {
			fresh, last = time.Now(), f.Behaviours
		}
		if f.Replayed < corpus {
			a.progress.show("%s%d of %d scenarios of the corpus, %s", about, f.Replayed, corpus, plural(len(f.Findings), "finding"))
			return
		}
		a.progress.show("%s%s, %s, %s, %s (new %.0f s ago), %.0f/s", about,
			plural(f.Runs, "scenario"), plural(len(f.Findings), "finding"), plural(f.Traces, "trace"), plural(f.Behaviours, "behaviour"),
			time.Since(fresh).Seconds(), float64(f.Replayed+f.Runs)/time.Since(start).Seconds())
	}
}

// checkDir makes the directory of a flag and sees whether a file can be written
// there, before any work is done. No directory is no error.
func checkDir(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	probe, err := os.CreateTemp(dir, ".zksim-*")
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}
