package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zksim/zksim/fuzz"
)

type fuzzCommand struct {
	target           `embed:""`
	Runs             int           `help:"Stop after so many scenarios (default: 1000, or none with --for)." placeholder:"N"`
	For              time.Duration `help:"Stop after this much time." placeholder:"DURATION"`
	Save             string        `help:"Directory in which to save what was found." placeholder:"DIR"`
	CheckDeterminism bool          `help:"Run every scenario twice and compare the traces."`
	JSON             bool          `help:"Print JSON."`
}

// fuzzJSON is a search for programs.
type fuzzJSON struct {
	Workload       string        `json:"workload"`
	Implementation string        `json:"implementation"`
	Runs           int           `json:"runs"`
	Undecided      int           `json:"undecided"`
	Interrupted    bool          `json:"interrupted"`
	Divergences    *int          `json:"divergences,omitempty"`
	Diverging      []outcomeJSON `json:"diverging,omitempty"`
	Violation      *foundJSON    `json:"violation,omitempty"`
}

func (c *fuzzCommand) Run(a *app) error {
	s, err := c.scenario()
	if err == nil {
		err = checkSaveDir(c.Save)
	}
	if err != nil {
		return err
	}
	if c.Runs < 0 || c.For < 0 {
		return fmt.Errorf("--runs and --for must not be negative")
	}
	if c.Runs == 0 && c.For == 0 {
		c.Runs = 1000
	}
	start := time.Now()
	search := fuzz.Search{
		Workload: s.Workload, Script: s.Script, Seed: c.Seed, Runs: c.Runs, For: c.For,
		CheckDeterminism: c.CheckDeterminism,
		Progress: func(runs int) {
			a.progress.show("%d scenarios, %.0f/s", runs, float64(runs)/time.Since(start).Seconds())
		},
	}
	found, err := search.Run(a.ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return c.report(a, s, found, err)
}

// report tells of a search; interrupted is nil or the context's error.
func (c *fuzzCommand) report(a *app, s fuzz.Scenario, found *fuzz.Found, interrupted error) error {
	j := fuzzJSON{Workload: s.Workload.Name, Implementation: s.Workload.Impl, Runs: found.Runs, Undecided: found.Undecided, Interrupted: interrupted != nil}
	if !c.JSON {
		a.printf("%s %s: %s", s.Workload.Name, s.Workload.Impl, plural(found.Runs, "random scenario"))
		if found.Undecided > 0 {
			a.printf(", %d undecided", found.Undecided)
		}
		if interrupted != nil {
			a.printf("; interrupted")
		}
		a.printf("\n")
	}
	if found.Violation != nil {
		v, err := c.show(a, found.Violation)
		if err != nil {
			return err
		}
		j.Violation = &v
	} else if !c.JSON {
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
	if found.Violation != nil || len(found.Divergences) > 0 {
		return errViolated
	}
	return interrupted
}

func (c *fuzzCommand) show(a *app, o *fuzz.Outcome) (foundJSON, error) {
	small, err := fuzz.Minimize(a.ctx, o)
	if err != nil {
		return foundJSON{}, err
	}
	found := foundJSON{Property: small.Property(), Points: 1, Minimal: outcomeOf(small)}
	if !c.JSON {
		a.printf("\n%s", small.Story())
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
