package saved

import (
	"encoding/json"
	"path/filepath"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/inflight"
	"github.com/zksim/zksim/linearizability"
)

// Crash is the property of a scenario file that ends the process: by a panic in a goroutine that
// the code under test has begun, a fatal error of the runtime, or os.Exit.
const Crash = "crash"

// NotesDir is the directory of the notes of all tests of a package, which Play keeps.
// Package property keeps its own there, too.
var NotesDir = filepath.Join("testdata", "zksim")

// Play runs a scenario. If the process keeps notes (see package inflight), there is a note of the
// scenario during the run, in case the code under test ends the process.
func Play(s scenario.Scenario) (*scenario.Outcome, error) {
	defer inflight.Note(func() []byte { return note(s) })()
	return s.Run()
}

// PlayBy is [scenario.Scenario.RunBy], with a note that has the schedule so far.
func PlayBy(s scenario.Scenario, choose sim.Chooser, hideCounts bool) (*scenario.Outcome, error) {
	defer inflight.Note(func() []byte { return note(s) })()
	return s.RunBy(choose, hideCounts)
}

// note is a file, in JSON, that expects the scenario to end the process. JSON is YAML that is
// written quickly: each scenario of a hunt has a note while it is played.
func note(s scenario.Scenario) []byte {
	f := File{Scenario: s, Expect: linearizability.Violated, Property: Crash}
	text, err := json.Marshal(f.form())
	if err != nil {
		return nil // strings and numbers only: it cannot fail
	}
	return text
}

// judged are the properties that a run of the workload may violate, nil for any.
func judged(w scenario.Workload) []string {
	if w.Properties == nil {
		return nil
	}
	return append(w.MayViolate(), Crash)
}

// IsScenario reports whether a file has the name of a scenario file.
func IsScenario(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// Load reads a scenario file. find looks up workloads.
func Load(name string, find func(workload, impl string) (scenario.Workload, error)) (File, error) {
	data, err := readFile(name)
	if err != nil {
		return File{}, err
	}
	return Parse(name, data, find)
}
