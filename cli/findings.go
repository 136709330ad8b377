package cli

import (
	"path/filepath"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// unsteadyText is printed in place of a violation that does not happen in each run of its scenario
// ([hunt.Steady]).
const unsteadyText = "\n%s is violated, but not each time, so it is not saved: " +
	"two runs of one seed differ; " +
	"does the code share state between runs, or use math/rand or map order, " +
	"which zksim go run makes equal?\n%s\n"

// kept has the directories of the findings, and whether saving is silent.
type kept struct {
	save, html string // directories, "" for none
	quiet      bool
}

// keepFinding saves and draws a finding, and notes the files in found. A finding that does not
// happen in each run is not saved, as it could not be replayed. The traces of two of its runs are
// saved instead.
func (a *app) keepFinding(
	found *foundJSON, o *scenario.Outcome, unsteady *hunt.Divergence, k kept,
) (err error) {
	switch {
	case unsteady != nil && k.quiet:
		return nil
	case unsteady != nil:
		a.Printf(unsteadyText, o.Property(), unsteady)
		return a.saveBoth(*unsteady, k.save)
	}
	if found.File, err = a.save(o, k.save, k.quiet); err != nil {
		return err
	}
	if found.Picture, err = a.drawFinding(o, k.html, found.File, k.quiet); err != nil {
		return err
	}
	if found.File == "" && found.Picture != "" { // the scenario is beside the picture
		found.File = strings.TrimSuffix(found.Picture, ".html") + ".yaml"
	}
	if found.File != "" {
		found.Repeat = a.Repeat(found.File)
	}
	return nil
}

// saveBoth writes the traces of the two runs of a divergence to a directory, if there is one, and
// prints the command that compares them.
func (a *app) saveBoth(d hunt.Divergence, dir string) error {
	if dir == "" {
		return nil
	}
	w := d.Scenario.Workload
	names, err := d.SaveTraces(dir, baseName(w.Name, w.Impl)+"-")
	if err != nil || names == nil {
		return err
	}
	a.Printf("to compare the traces: %s diff %s %s\n", a.Name,
		saved.ShellWord(names[0]), saved.ShellWord(names[1]))
	return nil
}

// save is saveFile for the scenario of a violation.
func (a *app) save(o *scenario.Outcome, dir string, quiet bool) (string, error) {
	return a.saveFile(saved.Of(o), scenarioName(o), dir, quiet)
}

// saveFile writes a scenario file and returns its name. Unless quiet, it prints the command that
// repeats the scenario. Without a directory, or if the file cannot be written, it prints the
// scenario instead.
func (a *app) saveFile(f saved.File, name, dir string, quiet bool) (string, error) {
	f.Command = a.Name + " replay FILE"
	hint := " (--save DIR writes it)"
	if dir != "" {
		name = filepath.Join(dir, name)
		err := f.Save(name)
		if err == nil {
			if !quiet {
				a.Printf("\nto see it again: %s\n", a.Repeat(name))
			}
			return name, nil
		}
		a.PrintError(err) // the other findings are not lost
		hint = ""
	}
	if quiet {
		return "", nil
	}
	a.Printf("\nthe scenario, as a file%s:\n\n%s", hint, command.Indent(string(f.Text())))
	return "", nil
}

// fileOf is the scenario file of an outcome. It names this program as the program that replays it.
func (a *app) fileOf(o *scenario.Outcome) saved.File {
	file := saved.Of(o)
	file.Command = a.Name + " replay FILE"
	return file
}

// scenarioName is the file name of a finding: lock-zk.Lock-liveness-1f2e3d4c.yaml.
func scenarioName(o *scenario.Outcome) string {
	s := o.Scenario.Workload
	return fileName(s.Name, s.Impl, o.Property(), o.Result.Trace.Hash()[:8])
}

// fileName is the name of a scenario file.
func fileName(parts ...string) string { return baseName(parts...) + ".yaml" }

// baseName is a file name without its ending. Slashes in the names of a workload become _.
func baseName(parts ...string) string {
	return strings.ReplaceAll(strings.Join(parts, "-"), "/", "_")
}
