package saved

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/zksim/zksim/fakezk/fault"
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

// fileForm is the YAML of the file; see note for the JSON.
type fileForm struct {
	Workload       string   `yaml:"workload" json:"workload"`
	Implementation string   `yaml:"implementation" json:"implementation"`
	Clients        int      `yaml:"clients" json:"clients"`
	Rounds         int      `yaml:"rounds" json:"rounds"`
	Goroutines     int      `yaml:"goroutines,omitempty" json:"goroutines,omitempty"`
	Servers        int      `yaml:"servers,omitempty" json:"servers,omitempty"`
	Careless       bool     `yaml:"careless,omitempty" json:"careless,omitempty"`
	Seed           uint64   `yaml:"seed" json:"seed"`
	Schedule       string   `yaml:"schedule,omitempty" json:"schedule,omitempty"`
	Plan           []string `yaml:"plan" json:"plan"`
	Expect         string   `yaml:"expect" json:"expect"`
	Property       string   `yaml:"property,omitempty" json:"property,omitempty"`
	Trace          string   `yaml:"trace,omitempty" json:"trace,omitempty"`
	Test           string   `yaml:"test,omitempty" json:"test,omitempty"`
	Package        string   `yaml:"package,omitempty" json:"package,omitempty"`
	Tags           string   `yaml:"tags,omitempty" json:"tags,omitempty"`
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
func (f File) form() fileForm {
	form := fileForm{
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

// Marshal is the YAML of a scenario file.
func (f File) Marshal() ([]byte, error) {
	var b bytes.Buffer
	command := cmp.Or(f.Command, "zksim replay FILE")
	fmt.Fprintf(&b, "# A zksim scenario. Replay it with: %s\n",
		strings.ReplaceAll(command, "\n", "\n# "))
	if err := yaml.NewEncoder(&b, yaml.IndentSequence(true)).Encode(f.form()); err != nil {
		return nil, fmt.Errorf("encode scenario: %w", err)
	}
	return b.Bytes(), nil
}

// Save writes the file, and makes its directory if need be. At any moment the name has the old
// content or the whole new file, never a part.
func (f File) Save(name string) error {
	data, err := f.Marshal()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fmt.Errorf("save scenario: %w", err)
	}
	if err := writeWhole(name, data); err != nil {
		return fmt.Errorf("save scenario: %w", err)
	}
	return nil
}

// writeWhole writes a file under another name in the same directory, and then renames it. The other
// name does not end like that of a scenario file.
func writeWhole(name string, data []byte) error {
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

// Parse reads a scenario. It is strict: unknown keys, wrong types and invalid values are errors
// that name the place, as name:line:column, the value and the expected values. A byte order mark at
// the beginning is skipped. find looks up workloads.
func Parse(
	name string, data []byte, find func(workload, impl string) (scenario.Workload, error),
) (File, error) {
	if len(data) > maxScenarioFile {
		return File{}, fmt.Errorf("%s: %d bytes; expected at most %d", name, len(data),
			maxScenarioFile)
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	doc, err := parser.ParseBytes(data, 0)
	if err != nil {
		return File{}, yamlError(name, err)
	}
	p := scenarioParser{name: name, doc: doc}
	switch {
	case len(doc.Docs) > 1:
		return File{}, fmt.Errorf("%s: %d documents; expected one", name, len(doc.Docs))
	case len(doc.Docs) == 0 || doc.Docs[0].Body == nil:
		return File{}, fmt.Errorf("%s: is empty; expected a scenario", name)
	}
	if err := p.checkKinds(); err != nil {
		return File{}, err
	}
	var form fileForm
	err = yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&form)
	if err != nil && !errors.Is(err, io.EOF) {
		return File{}, yamlError(name, err)
	}
	return p.file(form, find)
}

// byteOrderMark begins a file in UTF-8 of some editors.
const byteOrderMark = "\ufeff"

// maxScenarioFile is the greatest length of a file in bytes. The YAML library takes quadratic time
// for nested brackets; the limit keeps that short.
const maxScenarioFile = 16 << 10

// yamlError turns an error of the YAML library into the form of this package.
func yamlError(name string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	pos := at.GetToken().Position
	message := at.GetMessage()
	if strings.HasPrefix(message, "unknown field") {
		message += "; expected one of " + strings.Join(scenarioKeys, ", ")
	}
	return fmt.Errorf("%s:%d:%d: %s", name, pos.Line, pos.Column, message)
}

var scenarioKeys = []string{
	"workload", "implementation", "clients", "rounds", "goroutines", "servers", "careless", "seed",
	"schedule", "plan", "expect", "property", "trace", "test", "package", "tags",
}

type scenarioParser struct {
	name string
	doc  *ast.File
}

var traceHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (p scenarioParser) file(
	form fileForm, find func(string, string) (scenario.Workload, error),
) (File, error) {
	var f File
	for _, key := range []string{"workload", "clients", "rounds", "expect"} {
		if p.node("$."+key) == nil {
			return f, fmt.Errorf("%s: %s is missing", p.name, key)
		}
	}
	var err error
	if f.Test, err = p.test(form); err != nil {
		return f, err
	}
	s := &f.Scenario
	if s.Workload, err = find(form.Workload, form.Implementation); err != nil {
		key := "$.implementation"
		if p.node(key) == nil || strings.HasPrefix(err.Error(), "unknown workload") {
			key = "$.workload"
		}
		err = p.wrong(key, "%v", err)
		if f.Test.Name != "" {
			err = &ElsewhereError{f.Test, err}
		}
		return f, err
	}
	if s.Seed = form.Seed; p.node("$.seed") == nil {
		s.Seed = 1 // as on the command line
	}
	s.Script = scenario.Script{
		Clients: form.Clients, Rounds: form.Rounds, Goroutines: form.Goroutines,
		Servers: form.Servers, Careless: form.Careless,
	}
	if p.node("$.goroutines") != nil && form.Goroutines == 0 {
		return f, p.wrong("$.goroutines", "goroutines: 0; expected 1 to %d",
			sim.MaxGoroutines-1) // one more closes the object
	}
	if p.node("$.servers") != nil && form.Servers == 0 {
		return f, p.wrong("$.servers", "servers: 0; expected 1 to %d", sim.MaxServers)
	}
	if err := s.Validate(); err != nil {
		key, _, _ := strings.Cut(err.Error(), ":")
		return f, p.wrong("$."+key, "%v", err)
	}
	if p.node("$.schedule") != nil {
		if s.Schedule, err = sim.ParseSchedule(form.Schedule); err != nil {
			return f, p.wrong("$.schedule", "%v", err)
		}
	}
	if s.Plan, err = p.plan(form.Plan, s.Script); err != nil {
		return f, err
	}
	f.Property, f.Trace = form.Property, form.Trace
	return f, p.expectation(&f, form)
}

// plan reads the faults.
func (p scenarioParser) plan(lines []string, script scenario.Script) ([]fault.Fault, error) {
	clients := map[string]bool{"": true}
	for _, c := range script.ClientNames() {
		clients[c] = true
	}
	var plan []fault.Fault
	for i, line := range lines {
		at := fmt.Sprintf("$.plan[%d]", i)
		fault, err := fault.Parse(line)
		if err != nil {
			return nil, p.wrong(at, "%v", err)
		}
		if !clients[fault.Client] {
			return nil, p.wrong(at,
				"fault %q: no client is called %q; with clients: %d they are %s",
				line, fault.Client, script.Clients, strings.Join(script.ClientNames(), ", "))
		}
		if slices.Contains(plan, fault) {
			return nil, p.wrong(at, "fault %q is given twice", line)
		}
		plan = append(plan, fault)
	}
	return plan, nil
}

func (p scenarioParser) expectation(f *File, form fileForm) error {
	switch form.Expect {
	case "ok":
		f.Expect = linearizability.OK
	case "violated":
		f.Expect = linearizability.Violated
	default:
		return p.wrong("$.expect", "expect: %q; expected ok or violated", form.Expect)
	}
	if form.Property != "" {
		if f.Expect == linearizability.OK {
			return p.wrong("$.property", "property goes with expect: violated only")
		}
		if judged := judged(f.Scenario.Workload); judged != nil && !slices.Contains(judged,
			form.Property) {
			return p.wrong("$.property", "property: %q; expected one of %s", form.Property,
				strings.Join(judged, ", "))
		}
	}
	if form.Trace != "" && !traceHash.MatchString(form.Trace) {
		return p.wrong("$.trace", "trace: %q; expected a SHA-256 of 64 hexadecimal digits",
			form.Trace)
	}
	return nil
}

// node finds a node of the document, nil if there is none.
func (p scenarioParser) node(path string) ast.Node {
	at, err := yaml.PathString(path)
	if err != nil {
		return nil
	}
	node, err := at.FilterFile(p.doc)
	if err != nil {
		return nil
	}
	return node
}

// wrong is an error about the value at a path of the document.
func (p scenarioParser) wrong(path, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	node := p.node(path)
	if node == nil || node.GetToken() == nil {
		return fmt.Errorf("%s: %s", p.name, message)
	}
	pos := node.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", p.name, pos.Line, pos.Column, message)
}

// Replay is the result of File.Check.
type Replay struct {
	File    File
	Outcome *scenario.Outcome
	// Problems are the differences between the outcome and the expected one, one line each.
	Problems []string
}

// Check runs a scenario file and compares the outcome with the expected one. A fault that matches
// nothing is a problem too: such a run shows nothing. With withTrace the trace must be the recorded
// one.
func (f File) Check(withTrace bool) (*Replay, error) {
	s := f.Scenario
	s.Logs = true
	o, err := Play(s)
	if err != nil {
		return nil, err
	}
	r := &Replay{File: f, Outcome: o}
	problem := func(format string,
		args ...any) {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
	for _, missed := range o.Result.Missed {
		problem("fault %q matches nothing in this run any more", missed.String())
	}
	switch got := o.Property(); {
	case f.Expect == linearizability.OK && got != "":
		problem("expected ok, but %s is violated: %s", got, o.Summary())
	case f.Expect == linearizability.Violated && got == "":
		problem("expected a violation%s, but the verdict is %s", ofProperty(f.Property), o.Status())
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
