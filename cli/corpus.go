package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// maxNamed is the number of bad files of a corpus, or of divergences, that are named.
const maxNamed = 5

// A corpus is a directory of scenarios that showed new behaviour, "" for none.
type corpus struct {
	*command.Env
	dir string
}

// inCorpus is a scenario of a corpus, and its file.
type inCorpus struct {
	scenario scenario.Scenario
	file     string
}

// load reads the scenarios in the order of the files' names. Bad files are named on stderr and left
// out. It is an error if all files are bad, or if the command is interrupted.
func (c corpus) load(workloads scenario.Catalogue) ([]inCorpus, error) {
	if c.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("--corpus: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !saved.IsScenario(e.Name())
	})
	var scenarios []inCorpus
	var bad, why []string
	var first error
	for i, e := range entries {
		if err := c.Context.Err(); err != nil {
			return nil, err
		}
		c.Progress.Show("reading the corpus: %d of %d files", i, len(entries))
		name := filepath.Join(c.dir, e.Name())
		file, err := saved.Load(name, workloads.Find)
		if err != nil {
			bad, why, first = append(bad, name), append(why, err.Error()), cmp.Or(first, err)
			continue
		}
		scenarios = append(scenarios, inCorpus{file.Scenario, name})
	}
	if len(bad) > 0 && len(scenarios) == 0 {
		return nil, fmt.Errorf(
			"--corpus: none of %s is a scenario of a known workload; first error: %w",
			command.Plural(len(bad), "file"), first)
	}
	c.tell("left out", bad, why)
	return scenarios, nil
}

// tell prints what is wrong with files of a corpus, a line for each, and the command that removes
// them.
func (c corpus) tell(what string, files, lines []string) {
	for _, line := range lines[:min(len(lines), maxNamed)] {
		c.Note("--corpus: %s: %s", what, line)
	}
	if more := len(lines) - maxNamed; more > 0 {
		c.Note("--corpus: %s: %s", what, command.Plural(more, "more file"))
	}
	if len(files) > 0 {
		remove := "rm"
		for _, file := range files {
			remove += " " + saved.ShellWord(file)
		}
		c.Note("--corpus: to remove them: %s", remove)
	}
}

// tellIdle names the files with a fault that matches nothing: they test less than they say.
func (c corpus) tellIdle(played []inCorpus, idle []int) {
	var files []string
	for _, n := range idle {
		files = append(files, played[n].file)
	}
	c.tell("a fault of its plan matches nothing", files, files)
}

func workloadOf(c inCorpus) scenario.Workload { return c.scenario.Workload }

// ofWorkload returns the elements of a list that belong to workload w.
func ofWorkload[T any](
	list []T, w scenario.Workload, workload func(T) scenario.Workload,
) []T {
	var own []T
	for _, e := range list {
		if of := workload(e); of.Name == w.Name && of.Impl == w.Impl {
			own = append(own, e)
		}
	}
	return own
}

// keep writes a scenario that showed new behaviour, and reports whether the file is
// new.
func (c corpus) keep(o *scenario.Outcome) (added bool, err error) {
	if o, err = withoutMissed(o); err != nil {
		return false, fmt.Errorf("--corpus: %w", err)
	}
	if o.Status() == linearizability.Unknown {
		return false, nil // a scenario file cannot expect it
	}
	s := o.Scenario.Workload
	name := filepath.Join(c.dir, fileName(s.Name, s.Impl, o.Result.Trace.Hash()[:16]))
	_, err = os.Stat(name)
	added = errors.Is(err, fs.ErrNotExist)
	if err := savedFile(c.Env, o).Save(name); err != nil {
		return false, fmt.Errorf("--corpus: %w", err)
	}
	return added, nil
}

// withoutMissed is the outcome of a scenario without the faults of its plan that match nothing,
// which a file must not have. The scenario is run again, as even a fault without effect may move
// later events by a nanosecond.
func withoutMissed(o *scenario.Outcome) (*scenario.Outcome, error) {
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
