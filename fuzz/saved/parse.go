package saved

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
		err = yamlError(name, err)
		if !bytes.Contains(data, []byte("workload:")) { // such as the text of a trace
			err = fmt.Errorf("%w; expected a scenario, with the key workload", err)
		}
		return File{}, err
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

// file reads all keys, in an order in which each key can be checked against the ones before it.
func (p scenarioParser) file(
	form fileForm, find func(string, string) (scenario.Workload, error),
) (f File, err error) {
	for _, key := range []string{"workload", "clients", "rounds", "expect"} {
		if p.node("$."+key) == nil {
			return f, fmt.Errorf("%s: %s is missing", p.name, key)
		}
	}
	if f.Test, err = p.test(form); err != nil {
		return f, err
	}
	if f.Scenario, err = p.scenario(form, f.Test, find); err != nil {
		return f, err
	}
	f.Property, f.Trace = form.Property, form.Trace
	return f, p.expectation(&f, form)
}

// scenario reads what is played.
func (p scenarioParser) scenario(
	form fileForm, test Test, find func(string, string) (scenario.Workload, error),
) (s scenario.Scenario, err error) {
	if s.Workload, err = p.workload(form, test, find); err != nil {
		return s, err
	}
	if s.Seed = form.Seed; p.node("$.seed") == nil {
		s.Seed = 1 // as on the command line
	}
	if s.Script, err = p.script(form); err != nil {
		return s, err
	}
	if err := s.Validate(); err != nil {
		key, _, _ := strings.Cut(err.Error(), ":")
		return s, p.wrong("$."+key, "%v", err)
	}
	if p.node("$.schedule") != nil {
		if s.Schedule, err = sim.ParseSchedule(form.Schedule); err != nil {
			return s, p.wrong("$.schedule", "%v", err)
		}
	}
	s.Plan, err = p.plan(form.Plan, s.Script)
	return s, err
}

// workload looks the workload up. A test may have a workload that is known to the test only.
func (p scenarioParser) workload(
	form fileForm, test Test, find func(string, string) (scenario.Workload, error),
) (scenario.Workload, error) {
	w, err := find(form.Workload, form.Implementation)
	if err == nil {
		return w, nil
	}
	key := "$.implementation"
	if p.node(key) == nil || strings.HasPrefix(err.Error(), "unknown workload") {
		key = "$.workload"
	}
	err = p.wrong(key, "%v", err)
	if test.Name != "" {
		err = &ElsewhereError{test, err}
	}
	return w, err
}

// script reads the size of the run. A number of 0 stands for a key that is missing.
func (p scenarioParser) script(form fileForm) (scenario.Script, error) {
	s := scenario.Script{
		Clients: form.Clients, Rounds: form.Rounds, Goroutines: form.Goroutines,
		Servers: form.Servers, Careless: form.Careless,
	}
	if p.node("$.goroutines") != nil && form.Goroutines == 0 {
		return s, p.wrong("$.goroutines", "goroutines: 0; expected 1 to %d",
			sim.MaxGoroutines-1) // one more closes the object
	}
	if p.node("$.servers") != nil && form.Servers == 0 {
		return s, p.wrong("$.servers", "servers: 0; expected 1 to %d", sim.MaxServers)
	}
	return s, nil
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
