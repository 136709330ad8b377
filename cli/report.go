package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
)

// json prints a value for programs.
func (a *app) json(v any) error {
	a.progress.clear()
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

func (a *app) printf(format string, args ...any) {
	a.progress.clear()
	fmt.Fprintf(a.out, format, args...)
}

// outcomeJSON is an outcome for programs.
type outcomeJSON struct {
	Workload       string        `json:"workload"`
	Implementation string        `json:"implementation"`
	Clients        int           `json:"clients"`
	Rounds         int           `json:"rounds"`
	Goroutines     int           `json:"goroutines"`
	Careless       bool          `json:"careless"`
	Seed           uint64        `json:"seed"`
	Schedule       string        `json:"schedule,omitempty"`
	Plan           []string      `json:"plan"`
	Status         string        `json:"status"`
	Property       string        `json:"property,omitempty"`
	Summary        string        `json:"summary,omitempty"`
	Verdicts       []verdictJSON `json:"verdicts"`
	Missed         []string      `json:"missed,omitempty"`
	Trace          string        `json:"trace"`
}

type verdictJSON struct {
	Property string `json:"property"`
	Status   string `json:"status"`
	Summary  string `json:"summary"`
}

func outcomeOf(o *scenario.Outcome) outcomeJSON {
	s := o.Scenario
	j := outcomeJSON{
		Workload: s.Workload.Name, Implementation: s.Workload.Impl,
		Clients: s.Script.Clients, Rounds: s.Script.Rounds, Goroutines: max(1, s.Script.Goroutines), Careless: s.Script.Careless, Seed: s.Seed,
		Plan: []string{}, Status: o.Status().String(), Property: o.Property(), Summary: o.Summary(),
		Verdicts: []verdictJSON{}, Trace: o.Result.Trace.Hash(),
	}
	if s.Schedule.Kind != sim.Latencies {
		j.Schedule = s.Schedule.String()
	}
	for _, f := range s.Plan {
		j.Plan = append(j.Plan, f.String())
	}
	for _, f := range o.Result.Missed {
		j.Missed = append(j.Missed, f.String())
	}
	for _, v := range o.Verdicts() {
		j.Verdicts = append(j.Verdicts, verdictJSON{v.Property, v.Status.String(), v.Summary})
	}
	return j
}

// keepFinding saves what was found, unless it does not show each time, which it tells.
func (a *app) keepFinding(o *scenario.Outcome, found foundJSON, dir string, quiet bool) (string, error) {
	if !found.Unsteady {
		return a.save(o, dir, quiet)
	}
	if !quiet {
		a.printf("\n"+unsteady+"\n", found.Property)
	}
	return "", nil
}

// save writes a violation's scenario and, unless quiet, tells how to repeat it.
// Without a directory, or if it cannot be written there, it only shows the scenario.
func (a *app) save(o *scenario.Outcome, dir string, quiet bool) (string, error) {
	hint := " (--save DIR writes it)"
	if dir != "" {
		if name := a.write(o, dir); name != "" {
			if !quiet {
				a.printf("\nto see it again: %s replay %s\n", a.name, name)
			}
			return name, nil
		}
		hint = ""
	}
	if quiet {
		return "", nil
	}
	text, err := a.fileOf(o).Marshal()
	if err != nil {
		return "", err
	}
	a.printf("\nthe scenario, as a file%s:\n\n%s", hint, indent(string(text)))
	return "", nil
}

// fileOf is an outcome's scenario, to be replayed by this command, whatever its name.
func (a *app) fileOf(o *scenario.Outcome) scenario.File {
	file := scenario.FileOf(o)
	file.Command = a.name + " replay FILE"
	return file
}

// scenarioName names a finding's file after what it is:
// lock-zk.Lock-liveness-1f2e3d4c.yaml.
func scenarioName(o *scenario.Outcome) string {
	s := o.Scenario.Workload
	return fileName(s.Name, s.Impl, o.Property(), o.Result.Trace.Hash()[:8])
}

// isScenario tells by a file's name whether it holds a scenario.
func isScenario(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// fileName is the name of a scenario file in a directory: the names of a workload
// of one's own may have a slash.
func fileName(parts ...string) string {
	return strings.ReplaceAll(strings.Join(parts, "-"), "/", "_") + ".yaml"
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// plural is "1 fault" or "2 faults".
func plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// write writes a violation's scenario and returns the file's name, "" if that failed. What
// was found is worth more than the file: an error is told and the work goes on.
func (a *app) write(o *scenario.Outcome, dir string) string {
	name := filepath.Join(dir, scenarioName(o))
	if err := a.fileOf(o).Save(name); err != nil {
		a.tell(err)
		return ""
	}
	return name
}
