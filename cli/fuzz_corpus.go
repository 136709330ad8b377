package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
)

// maxNamed is how many of a sort are named, bad files of a corpus, say.
const maxNamed = 5

// loadCorpus reads the scenarios out of a directory, in the order of the files' names;
// "" has none. Bad files are told and left out; it is an error if all are bad, or if the
// command is interrupted meanwhile.
func (a *app) loadCorpus(dir string) ([]scenario.Scenario, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("--corpus: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !isScenario(e.Name()) })
	var corpus []scenario.Scenario
	var bad []error
	for i, e := range entries {
		if err := a.ctx.Err(); err != nil {
			return nil, err
		}
		a.progress.show("reading the corpus: %d of %d files", i, len(entries))
		file, err := a.workloads.Load(filepath.Join(dir, e.Name()))
		if err != nil {
			bad = append(bad, err)
			continue
		}
		corpus = append(corpus, file.Scenario)
	}
	if len(bad) > 0 && len(corpus) == 0 {
		return nil, fmt.Errorf("--corpus: none of %s is a scenario of a known workload, beginning with %w", plural(len(bad), "file"), bad[0])
	}
	a.leftOut(bad)
	return corpus, nil
}

// leftOut tells of the bad files of a corpus.
func (a *app) leftOut(bad []error) {
	a.progress.clear()
	for _, err := range bad[:min(len(bad), maxNamed)] {
		fmt.Fprintf(a.errors, "%s: --corpus: left out: %v\n", a.name, err)
	}
	if more := len(bad) - maxNamed; more > 0 {
		fmt.Fprintf(a.errors, "%s: --corpus: left out: %s\n", a.name, plural(more, "more file"))
	}
}

// ofWorkload are the scenarios of one workload.
func ofWorkload(corpus []scenario.Scenario, w scenario.Workload) []scenario.Scenario {
	var own []scenario.Scenario
	for _, s := range corpus {
		if s.Workload.Name == w.Name && s.Workload.Impl == w.Impl {
			own = append(own, s)
		}
	}
	return own
}

// keep adds to a corpus what has shown new behaviour, as a scenario file, and reports
// whether there is one more now.
func (a *app) keep(dir string, o *scenario.Outcome) (added bool, err error) {
	if o, err = withoutMissed(o); err != nil {
		return false, fmt.Errorf("--corpus: %w", err)
	}
	if o.Undecided() {
		return false, nil // no file can expect that
	}
	s := o.Scenario.Workload
	name := filepath.Join(dir, fileName(s.Name, s.Impl, o.Result.Trace.Hash()[:16]))
	_, err = os.Stat(name)
	added = errors.Is(err, fs.ErrNotExist)
	if err := a.fileOf(o).Save(name); err != nil {
		return false, fmt.Errorf("--corpus: %w", err)
	}
	return added, nil
}

// withoutMissed is what comes of a scenario without those faults of its plan that
// match nothing: a file must not have any, and even those that are at a time at which
// they can do nothing may move what happens by a nanosecond.
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
