package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz"
)

type fuzzCommand struct {
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

// fuzzJSON is a hunt for programs.
type fuzzJSON struct {
	Workload       string        `json:"workload"`
	Implementation string        `json:"implementation"`
	Runs           int           `json:"runs"`
	Traces         int           `json:"traces"`
	Behaviours     int           `json:"behaviours"`
	Undecided      int           `json:"undecided"`
	Exhausted      bool          `json:"exhausted"`
	Interrupted    bool          `json:"interrupted"`
	Divergences    *int          `json:"divergences,omitempty"`
	Diverging      []outcomeJSON `json:"diverging,omitempty"`
	Findings       []findingJSON `json:"findings"`
}

type findingJSON struct {
	Strategy string `json:"strategy"`
	Runs     int    `json:"runs"`
	foundJSON
}

func (c *fuzzCommand) Run(a *app) error {
	s, err := c.scenario(a.workloads)
	if err == nil {
		err = errors.Join(checkDir("--save", c.Save), checkDir("--corpus", c.Corpus))
	}
	if err != nil {
		return err
	}
	if c.Runs < 0 || c.For < 0 || c.MaxFaults < 0 || c.Findings < 0 {
		return fmt.Errorf("--runs, --for, --max-faults and --findings must not be negative")
	}
	if c.Runs == 0 && c.For == 0 {
		c.Runs = 1000
	}
	hunt := fuzz.Hunt{
		Workload: s.Workload, Script: s.Script, Seed: c.Seed, Runs: c.Runs, For: c.For, Strategies: c.Strategy,
		MaxFaults: c.MaxFaults, Findings: c.Findings, CheckDeterminism: c.CheckDeterminism, Progress: showHunt(a),
	}
	if c.Corpus != "" {
		if hunt.Corpus, err = loadCorpus(a.workloads, c.Corpus, s.Workload); err != nil {
			return err
		}
		hunt.Keep = func(o *fuzz.Outcome) error { return keep(c.Corpus, o) }
	}
	found, err := hunt.Run(a.ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return c.report(a, s, found, err)
}

// showHunt tells of a hunt under way on one line.
func showHunt(a *app) func(*fuzz.Found) {
	start, fresh, last := time.Now(), time.Now(), 0
	return func(f *fuzz.Found) {
		if f.Behaviours > last {
			fresh, last = time.Now(), f.Behaviours
		}
		a.progress.show("%d scenarios, %.0f/s, %d traces, %d behaviours (the last new one %.0f s ago), %s", f.Runs,
			float64(f.Runs)/time.Since(start).Seconds(), f.Traces, f.Behaviours, time.Since(fresh).Seconds(), plural(len(f.Findings), "finding"))
	}
}

// loadCorpus reads the scenarios of a workload out of a directory.
func loadCorpus(workloads fuzz.Catalogue, dir string, w fuzz.Workload) ([]fuzz.Scenario, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("--corpus: %w", err)
	}
	var corpus []fuzz.Scenario
	for _, name := range names {
		f, err := workloads.Load(name)
		if err != nil {
			return nil, fmt.Errorf("--corpus: %w", err)
		}
		if f.Scenario.Workload.Name == w.Name && f.Scenario.Workload.Impl == w.Impl {
			corpus = append(corpus, f.Scenario)
		}
	}
	return corpus, nil
}

// keep adds to a corpus what has shown new behaviour, as a scenario file.
func keep(dir string, o *fuzz.Outcome) error {
	o, err := withoutMissed(o)
	if err != nil {
		return fmt.Errorf("--corpus: %w", err)
	}
	if o.Undecided() {
		return nil // no file can expect that
	}
	s := o.Scenario.Workload
	name := filepath.Join(dir, fmt.Sprintf("%s-%s-%s.yaml", s.Name, s.Impl, o.Result.Trace.Hash()[:16]))
	if err := fuzz.FileOf(o).Save(name); err != nil {
		return fmt.Errorf("--corpus: %w", err)
	}
	return nil
}

// withoutMissed is what comes of a scenario without those faults of its plan that
// match nothing: a file must not have any, and even those that are at a time at which
// they can do nothing may move what happens by a nanosecond.
func withoutMissed(o *fuzz.Outcome) (*fuzz.Outcome, error) {
	for len(o.Result.Missed) > 0 {
		s := o.Scenario
		s.Plan = slices.Clone(s.Plan)
		for _, missed := range o.Result.Missed {
			if i := slices.Index(s.Plan, missed); i >= 0 {
				s.Plan = slices.Delete(s.Plan, i, i+1)
			}
		}
		var err error
		if o, err = s.Run(); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// report tells of a hunt; interrupted is nil or the context's error.
func (c *fuzzCommand) report(a *app, s fuzz.Scenario, found *fuzz.Found, interrupted error) error {
	j := fuzzJSON{
		Workload: s.Workload.Name, Implementation: s.Workload.Impl, Runs: found.Runs, Traces: found.Traces, Behaviours: found.Behaviours,
		Undecided: found.Undecided, Exhausted: found.Exhausted, Interrupted: interrupted != nil, Findings: []findingJSON{},
	}
	if !c.JSON {
		a.printf("%s\n", summary(s, found, interrupted))
	}
	for _, f := range found.Findings {
		shown, err := c.show(a, f)
		if err != nil {
			return err
		}
		j.Findings = append(j.Findings, shown)
	}
	if len(found.Findings) == 0 && !c.JSON {
		a.printf("no violation found\n")
	}
	if err := c.reportDivergences(a, found, &j); err != nil {
		return err
	}
	if c.JSON {
		if err := a.json(j); err != nil {
			return err
		}
	}
	if len(found.Findings)+len(found.Divergences) > 0 {
		return errViolated
	}
	return interrupted
}

// summary is one line about a hunt.
func summary(s fuzz.Scenario, found *fuzz.Found, interrupted error) string {
	parts := []string{
		fmt.Sprintf("%s %s: %s", s.Workload.Name, s.Workload.Impl, plural(found.Runs, "scenario")),
		plural(found.Traces, "trace"), plural(found.Behaviours, "behaviour"),
	}
	if found.Undecided > 0 {
		parts = append(parts, fmt.Sprintf("%d undecided", found.Undecided))
	}
	text := strings.Join(parts, ", ")
	switch {
	case interrupted != nil:
		text += "; interrupted"
	case found.Exhausted:
		text += "; nothing is left to try"
	}
	return text
}

func (c *fuzzCommand) show(a *app, f fuzz.Finding) (findingJSON, error) {
	small, err := fuzz.Minimize(a.ctx, f.Outcome)
	if err != nil {
		return findingJSON{}, err
	}
	found := findingJSON{f.Strategy, f.Runs, foundJSON{Property: small.Property(), Points: 1, Minimal: outcomeOf(small)}}
	if !c.JSON {
		a.printf("\nfound by %s, scenario %d:\n\n%s", f.Strategy, f.Runs, small.Story())
	}
	found.File, err = a.save(small, c.Save, c.JSON)
	return found, err
}

func (c *fuzzCommand) reportDivergences(a *app, found *fuzz.Found, j *fuzzJSON) error {
	if !c.CheckDeterminism {
		return nil
	}
	n := len(found.Divergences)
	j.Divergences = &n
	for _, s := range found.Divergences {
		if c.JSON {
			o, err := s.Run()
			if err != nil {
				return err
			}
			j.Diverging = append(j.Diverging, outcomeOf(o))
			continue
		}
		a.printf("two runs differ: %s, plan %v\n", s, s.Plan)
	}
	if !c.JSON {
		a.printf("determinism: %s run twice, %s\n", plural(found.Runs, "scenario"), plural(n, "divergence"))
	}
	return nil
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
