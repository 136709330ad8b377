package cli

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/cli/internal/report"
)

type mergeCommand struct {
	Files   []string `arg:"" name:"file" help:"Reports of all the shards of one command, printed with --json."`
	Partial bool     `help:"Unite what there is, and say which shards are missing."`
}

// Help is the text of merge --help before the flags.
func (c *mergeCommand) Help() string {
	return "It prints the JSON that one process would have printed for the work of all shards: " +
		"of a sweep, a hunt, a proof or the gallery. A shard that is missing, or there twice, is an " +
		"error, and so are reports of different builds. One process stops at a finding where other " +
		"shards go on, so they may find more."
}

// Run unites the reports.
func (c *mergeCommand) Run(a *app) error {
	united, missing, bad, err := report.Merge(c.Files, c.Partial, a.workloads)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		a.PrintError(fmt.Errorf("not all of the work: no report of shard %s",
			strings.Join(missing, ", ")))
	}
	return a.Ending(bad, a.JSON(united))
}
