package saved

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// File is a scenario with its expected outcome, as a file keeps it.
type File struct {
	Scenario scenario.Scenario
	// Expect is the expected status, OK or Violated.
	Expect linearizability.Status
	// Property is the property expected to be violated, "" for any.
	Property string
	// Trace is the SHA-256 of the expected trace in hexadecimal, "" if the file
	// has none.
	Trace string
	// Test is the test that has saved the file; its Name is "" if the file is not from a test.
	Test Test
	// Command repeats the scenario: the file names it in a comment, which is not read back. ""
	// means zksim replay FILE.
	Command string
}

// Of makes a file that expects exactly the given outcome, or one with the same verdict if it was
// played on a running ensemble.
func Of(o *scenario.Outcome) File {
	f := File{Scenario: o.Scenario, Property: o.Property()}
	if o.Scenario.On == nil {
		f.Trace = o.Result.Trace.Hash()
	}
	if o.Status() == linearizability.Violated {
		f.Expect = linearizability.Violated
	}
	return f
}

// form is the file as YAML has it.
func (f File) form() form {
	form := form{
		Workload: f.Scenario.Workload.Name, Implementation: f.Scenario.Workload.Impl,
		Clients: f.Scenario.Script.Clients, Rounds: f.Scenario.Script.Rounds,
		Careless: f.Scenario.Script.Careless, Seed: f.Scenario.Seed,
		Plan: []string{}, Expect: f.Expect.String(), Property: f.Property, Trace: f.Trace,
		Test: f.Test.Name, Package: f.Test.Package, Tags: f.Test.Tags,
	}
	if f.Scenario.Schedule.Kind != sim.Latencies {
		form.Schedule = f.Scenario.Schedule.String()
	}
	if n := f.Scenario.Script.Goroutines; n > 1 {
		form.Goroutines = n
	}
	if n := f.Scenario.Script.Servers; n > 1 {
		form.Servers = n
	}
	for _, fault := range f.Scenario.Plan {
		form.Plan = append(form.Plan, fault.String())
	}
	return form
}

// Text is the scenario file as YAML.
func (f File) Text() []byte {
	command := strings.ReplaceAll(cmp.Or(f.Command, "zksim replay FILE"), "\n", "\n# ")
	about := fmt.Sprintf("# A zksim scenario. Replay it with: %s\n", command)
	return append([]byte(about), f.form().yaml()...)
}

// Save writes the file, and makes its directory if need be. At any moment the name has the old
// content or the whole new file, never a part.
func (f File) Save(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fmt.Errorf("save scenario: %w", err)
	}
	if err := WriteWhole(name, f.Text()); err != nil {
		return fmt.Errorf("save scenario: %w", err)
	}
	return nil
}

// WriteWhole writes a file under another name in the same directory, and then renames it. So at any
// moment the file is the old one or the whole new one. The other name does not end like that of a
// scenario file.
func WriteWhole(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// readFile reads a scenario file. A file that is too long is an error, as is one that is no regular
// file: a pipe could make the caller wait for ever.
func readFile(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("load scenario: %s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("load scenario: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScenarioFile+1))
	if err != nil {
		return nil, fmt.Errorf("load scenario: %w", err)
	}
	if len(data) > maxScenarioFile {
		return nil, fmt.Errorf("load scenario: %s: longer than %d bytes", name, maxScenarioFile)
	}
	return data, nil
}

// Replay is the result of File.Check.
type Replay struct {
	File    File
	Outcome *scenario.Outcome
	// Problems are the differences between the outcome and the expected one, one line each.
	Problems []string
}

// Check runs a scenario file and compares the outcome with the expected one. A fault that matches
// nothing is a problem too: such a run shows nothing. On a running ensemble no two runs are alike,
// so there a violation is enough. With withTrace the trace must be the recorded one.
func (f File) Check(withTrace bool) (*Replay, error) {
	s := f.Scenario
	s.Logs = true
	o, err := Play(s)
	if err != nil {
		return nil, err
	}
	r := &Replay{File: f, Outcome: o}
	problem := func(format string, args ...any) {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
	got := o.Property()
	shown := s.On != nil && f.Expect == linearizability.Violated &&
		got != "" && got == cmp.Or(f.Property, got) // another run may miss other faults
	for _, missed := range o.Result.Missed {
		if !shown {
			problem("fault %q matches nothing in this run any more", missed.String())
		}
	}
	switch {
	case f.Expect == linearizability.OK && got != "":
		problem("expected ok, but %s is violated: %s", got, o.Summary())
	case f.Expect == linearizability.Violated && got == "":
		again := ""
		if s.On != nil {
			again = "; no two runs on an ensemble are alike: try it again"
		}
		problem("expected a violation%s, but the verdict is %s%s", ofProperty(f.Property), o.Status(),
			again)
	case f.Expect == linearizability.Violated && f.Property != "" && got != f.Property:
		problem("expected a violation of %s, but %s is violated: %s", f.Property, got, o.Summary())
	case f.Expect == linearizability.OK && o.Status() == linearizability.Unknown:
		problem("expected ok, but the verdict is unknown: %s", o.Summary())
	}
	if hash := o.Result.Trace.Hash(); withTrace && s.On == nil && f.Trace != "" && f.Trace != hash {
		problem("the trace differs from the recorded one: its hash is %s, recorded is %s", hash,
			f.Trace)
	}
	return r, nil
}

func ofProperty(property string) string {
	if property == "" {
		return ""
	}
	return " of " + property
}
