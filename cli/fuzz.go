package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/zksim/zksim/fuzz"
)

type fuzzCommand struct {
	Workload         string `arg:"" optional:"" help:"Workload, such as lock or queue, or its implementation: zksim list shows them. Without one, or with all, each that is not known to be flawed."`
	target           `embed:""`
	Runs             int           `help:"Stop after so many scenarios (default: 1000, or none with --for)." placeholder:"N"`
	For              time.Duration `help:"Stop after this much time." placeholder:"DURATION"`
	Strategy         []string      `help:"Strategies to use, as zksim list shows them (default: all, each with its share)." placeholder:"NAME,..."`
	MaxFaults        int           `help:"Faults in a plan, at most." default:"4"`
	Findings         int           `help:"Stop after so many different findings." default:"1"`
	Corpus           string        `help:"Directory of what has shown new behaviour: tried first, and added to." placeholder:"DIR"`
	Save             string        `help:"Directory in which to save what was found." placeholder:"DIR"`
	CheckDeterminism bool          `help:"Run every scenario twice and compare the traces."`
	JSON             bool          `help:"Print JSON."`
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
	var corpus []fuzz.Scenario
	if corpus, err = loadCorpus(a.workloads, c.Corpus); err != nil {
		return err
	}
	found, interrupted, err := c.hunt(a, s, bounds{c.Runs, c.For}, corpus, "")
	if err != nil {
		return err
	}
	report, err := c.report(a, s, found, interrupted)
	if err != nil {
		return err
	}
	if c.JSON {
		err = a.json(report)
	} else {
		c.conclude(a, report)
	}
	switch {
	case err != nil:
		return err
	case report.bad():
		return errViolated
	}
	return interrupted
}

// conclude says in words what was not found.
func (c *fuzzCommand) conclude(a *app, report fuzzJSON) {
	if len(report.Findings) == 0 {
		a.printf("no violation found\n")
	}
	if report.Divergences != nil {
		a.printf("determinism: %s run twice, %s\n", plural(report.Runs, "scenario"), plural(*report.Divergences, "divergence"))
	}
}

// check looks at the flags before any work is done, and sets how much of it there
// is if they do not say.
func (c *fuzzCommand) check() error {
	if c.Runs < 0 || c.For < 0 || c.MaxFaults < 0 || c.Findings < 0 {
		return fmt.Errorf("--runs, --for, --max-faults and --findings must not be negative")
	}
	if c.Runs == 0 && c.For == 0 {
		c.Runs = 1000
	}
	return errors.Join(checkDir("--save", c.Save), checkDir("--corpus", c.Corpus))
}

// bounds are where a hunt ends; 0 is no bound.
type bounds struct {
	runs int
	time time.Duration
}

// hunt runs a hunt with progress, which a text goes before. What it has found when
// it is interrupted it returns with the context's error.
func (c *fuzzCommand) hunt(a *app, s fuzz.Scenario, within bounds, corpus []fuzz.Scenario, about string) (found *fuzz.Found, interrupted, err error) {
	hunt := fuzz.Hunt{
		Workload: s.Workload, Script: s.Script, Seed: s.Seed, Runs: within.runs, For: within.time, Strategies: c.Strategy,
		MaxFaults: c.MaxFaults, Findings: c.Findings, CheckDeterminism: c.CheckDeterminism,
		Corpus: ofWorkload(corpus, s.Workload), Progress: showHunt(a, about),
	}
	if c.Corpus != "" {
		hunt.Keep = func(o *fuzz.Outcome) error { return keep(c.Corpus, o) }
	}
	found, err = hunt.Run(a.ctx)
	if errors.Is(err, context.Canceled) {
		return found, err, nil
	}
	return found, nil, err
}

// showHunt tells of a hunt under way on one line.
func showHunt(a *app, about string) func(*fuzz.Found) {
	start, fresh, last := time.Now(), time.Now(), 0
	return func(f *fuzz.Found) {
		if f.Behaviours > last {
			fresh, last = time.Now(), f.Behaviours
		}
		a.progress.show("%s%d scenarios, %.0f/s, %d traces, %d behaviours (the last new one %.0f s ago), %s", about, f.Runs,
			float64(f.Runs)/time.Since(start).Seconds(), f.Traces, f.Behaviours, time.Since(fresh).Seconds(), plural(len(f.Findings), "finding"))
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
