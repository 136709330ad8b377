package saved

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/yamldoc"
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
	doc, err := yamldoc.Read(bytes.TrimPrefix(data, []byte("\ufeff")), 1)
	switch {
	case err != nil && !bytes.Contains(data, []byte("workload:")): // such as the text of a trace
		return File{}, fmt.Errorf("%s:%w; expected a scenario, with the key workload", name, err)
	case err == nil && doc.Kind == yamldoc.Nothing:
		return File{}, fmt.Errorf("%s: is empty; expected a scenario", name)
	case err == nil:
		err = doc.Is(yamldoc.Mapping, "the scenario")
	}
	p := parser{name: name}
	if err == nil {
		p.values, err = p.form.read(doc)
	}
	if err != nil {
		return File{}, fmt.Errorf("%s:%w", name, err)
	}
	return p.file(find)
}

// maxScenarioFile is the greatest length of a file in bytes.
const maxScenarioFile = 16 << 10

// A parser reads one file.
type parser struct {
	name   string
	values map[string]yamldoc.Value // of the keys that the file has
	form   form                     // the same, as Go has them
}

var traceHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// file reads all keys, in an order in which each key can be checked against the ones before it.
func (p *parser) file(find func(string, string) (scenario.Workload, error)) (f File, err error) {
	for _, key := range []string{"workload", "clients", "rounds", "expect"} {
		if !p.has(key) {
			return f, fmt.Errorf("%s: %s is missing", p.name, key)
		}
	}
	if f.Test, err = p.test(); err != nil {
		return f, err
	}
	if f.Scenario, err = p.scenario(f.Test, find); err != nil {
		return f, err
	}
	f.Property, f.Trace = p.form.Property, p.form.Trace
	return f, p.expectation(&f)
}

// scenario reads what is played.
func (p *parser) scenario(
	test Test, find func(string, string) (scenario.Workload, error),
) (s scenario.Scenario, err error) {
	if s.Workload, err = p.workload(test, find); err != nil {
		return s, err
	}
	if s.Seed = p.form.Seed; !p.has("seed") {
		s.Seed = 1 // as on the command line
	}
	if s.Script, err = p.script(); err != nil {
		return s, err
	}
	if err := s.Validate(); err != nil {
		key, _, _ := strings.Cut(err.Error(), ":")
		return s, p.wrong(key, "%v", err)
	}
	if p.has("schedule") {
		if s.Schedule, err = sim.ParseSchedule(p.form.Schedule); err != nil {
			return s, p.wrong("schedule", "%v", err)
		}
	}
	s.Plan, err = p.plan(s.Script)
	return s, err
}

// workload looks the workload up. A test may have a workload that is known to the test only.
func (p *parser) workload(
	test Test, find func(string, string) (scenario.Workload, error),
) (scenario.Workload, error) {
	w, err := find(p.form.Workload, p.form.Implementation)
	if err == nil {
		return w, nil
	}
	key := "implementation"
	if !p.has(key) || strings.HasPrefix(err.Error(), "unknown workload") {
		key = "workload"
	}
	if test.Name != "" {
		return w, &ElsewhereError{test, p.wrong(key, "%v", err)}
	}
	return w, p.wrong(key, "%v; code of your own is known to your own command or test alone", err)
}

// script reads the size of the run. A number of 0 stands for a key that is missing.
func (p *parser) script() (scenario.Script, error) {
	s := scenario.Script{
		Clients: p.form.Clients, Rounds: p.form.Rounds, Goroutines: p.form.Goroutines,
		Servers: p.form.Servers, Careless: p.form.Careless,
	}
	if p.has("goroutines") && s.Goroutines == 0 {
		return s, p.wrong("goroutines", "goroutines: 0; expected 1 to %d",
			sim.MaxGoroutines-1) // one more closes the object
	}
	if p.has("servers") && s.Servers == 0 {
		return s, p.wrong("servers", "servers: 0; expected 1 to %d", sim.MaxServers)
	}
	return s, nil
}

// plan reads the faults.
func (p *parser) plan(script scenario.Script) ([]fault.Fault, error) {
	names := script.ClientNames()
	var plan []fault.Fault
	for _, v := range p.values["plan"].List {
		f, err := fault.Parse(v.Text)
		switch {
		case err != nil:
			return nil, p.at(v, "%v", err)
		case f.Client != "" && !slices.Contains(names, strings.TrimRight(f.Client, "'")): // respawned
			return nil, p.at(v, "fault %q: no client is called %q; with clients: %d they are %s",
				v.Text, f.Client, script.Clients, strings.Join(names, ", "))
		case slices.Contains(plan, f):
			return nil, p.at(v, "fault %q is given twice", v.Text)
		}
		plan = append(plan, f)
	}
	return plan, nil
}

func (p *parser) expectation(f *File) error {
	switch p.form.Expect {
	case "ok":
		f.Expect = linearizability.OK
	case "violated":
		f.Expect = linearizability.Violated
	default:
		return p.wrong("expect", "expect: %q; expected ok or violated", p.form.Expect)
	}
	if f.Property != "" {
		if f.Expect == linearizability.OK {
			return p.wrong("property", "property goes with expect: violated only")
		}
		judged := judged(f.Scenario.Workload)
		if judged != nil && !slices.Contains(judged, f.Property) {
			return p.wrong("property", "property: %q; expected one of %s", f.Property,
				strings.Join(judged, ", "))
		}
	}
	if f.Trace != "" && !traceHash.MatchString(f.Trace) {
		return p.wrong("trace", "trace: %q; expected a SHA-256 of 64 hexadecimal digits", f.Trace)
	}
	return nil
}

func (p *parser) has(key string) bool {
	_, ok := p.values[key]
	return ok
}

// wrong is an error about the value of a key.
func (p *parser) wrong(key, format string, args ...any) error {
	v, ok := p.values[key]
	if !ok {
		return fmt.Errorf("%s: %w", p.name, fmt.Errorf(format, args...))
	}
	return p.at(v, format, args...)
}

// at is an error about a value.
func (p *parser) at(v yamldoc.Value, format string, args ...any) error {
	return fmt.Errorf("%s:%w", p.name, v.At.Wrong(format, args...))
}
