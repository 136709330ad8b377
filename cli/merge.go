package cli

import "github.com/zksim/zksim/cli/internal/report"

type mergeCommand struct {
	Files []string `arg:"" name:"file" help:"Reports of all the shards of one command, printed with --json."`
}

// Help is the text of merge --help before the flags.
func (c *mergeCommand) Help() string {
	return "It prints the JSON that one process would have printed for the work of all shards: " +
		"of a sweep, a hunt or the gallery. A shard that is missing, or there twice, is an " +
		"error. One process stops at a finding where other shards go on, so they may find more."
}

// Run unites the reports.
func (c *mergeCommand) Run(a *app) error {
	united, bad, err := report.Merge(c.Files, a.workloads)
	if err != nil {
		return err
	}
	return a.Ending(bad, a.JSON(united))
}
