package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/zksim/zksim/fuzz"
)

// loadCorpus reads the scenarios out of a directory; "" has none.
func loadCorpus(workloads fuzz.Catalogue, dir string) ([]fuzz.Scenario, error) {
	if dir == "" {
		return nil, nil
	}
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
		corpus = append(corpus, f.Scenario)
	}
	return corpus, nil
}

// ofWorkload are the scenarios of one workload.
func ofWorkload(corpus []fuzz.Scenario, w fuzz.Workload) []fuzz.Scenario {
	var own []fuzz.Scenario
	for _, s := range corpus {
		if s.Workload.Name == w.Name && s.Workload.Impl == w.Impl {
			own = append(own, s)
		}
	}
	return own
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
	name := filepath.Join(dir, fileName(s.Name, s.Impl, o.Result.Trace.Hash()[:16]))
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
