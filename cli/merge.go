package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

type mergeCommand struct {
	Files   []string `arg:"" name:"file" help:"Reports of all the shards of one command, printed with --json; with --corpus directories."`
	Partial bool     `help:"Unite what there is, and say which shards are missing; a file may be cut off."`
	Corpus  string   `help:"New directory for the corpora in the directories FILE: of scenarios that show the same, the plainest is kept." placeholder:"DIR"`
}

// Help is the text of merge --help before the flags.
func (c *mergeCommand) Help() string {
	return "It prints the JSON that one process would have printed for the work of all shards: " +
		"of a sweep, a hunt, a proof or the gallery. A shard that is missing, or there twice, is an " +
		"error, and so are reports of different builds. One process stops at a finding where other " +
		"shards go on, so they may find more. With --corpus it unites corpora."
}

// Run unites the reports.
func (c *mergeCommand) Run(a *app) error {
	if c.Corpus != "" {
		return c.mergeCorpora(a)
	}
	united, lacks, bad, err := report.Merge(c.Files, c.Partial, a.workloads)
	if err != nil {
		return err
	}
	if len(lacks) > 0 {
		a.PrintError(fmt.Errorf("not all of the work: %s", strings.Join(lacks, "; ")))
	}
	return a.Ending(bad, a.JSON(united))
}

// mergeCorpora plays the scenarios of corpora, and keeps those that show something new.
func (c *mergeCommand) mergeCorpora(a *app) error {
	to := corpus{a.Env, c.Corpus}
	if err := command.CheckDir("--corpus", c.Corpus); err != nil {
		return err
	}
	if before, err := to.load(a.workloads); err != nil || len(before) > 0 {
		return cmp.Or(err, fmt.Errorf("--corpus: %s has scenarios; expected a new directory",
			c.Corpus))
	}
	var all []scenario.Scenario
	for _, dir := range c.Files {
		scenarios, err := corpus{a.Env, dir}.load(a.workloads)
		if err != nil {
			return err
		}
		for _, s := range scenarios {
			all = append(all, s.scenario)
		}
	}
	kept := 0
	err := hunt.Distil(a.Context, all, func(o *scenario.Outcome) error {
		added, err := to.keep(o)
		if added {
			kept++
		}
		a.Progress.Show("%d kept", kept)
		return err
	})
	a.Printf("%d of %s kept\n", kept, command.Plural(len(all), "scenario"))
	return a.Ending(false, err)
}
