package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/picture"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// unsteadyText is printed in place of a violation that does not happen in each run of its scenario
// ([hunt.Steady]).
const unsteadyText = "\n%s is violated, but not each time, so it is not saved: %s\n%s\n"

// output are the flags for the findings of a command, and for its part in the work of several.
type output struct {
	Save  string    `help:"Directory to save the findings in." placeholder:"DIR"`
	HTML  string    `name:"html" help:"Directory to draw the findings in, as HTML pages." placeholder:"DIR"`
	Shard hunt.Part `help:"The part of this process in work that N processes do: I/N; zksim merge unites their reports." env:"ZKSIM_SHARD" placeholder:"I/N"`
	JSON  bool      `help:"Print JSON."`
}

func (o output) checkDirs() error {
	return errors.Join(command.CheckDir("--save", o.Save), command.CheckDir("--html", o.HTML))
}

func (o output) findings(env *command.Env) findings {
	return findings{env, o.Save, o.HTML, o.JSON}
}

// findings keep, draw and print the findings of a command.
type findings struct {
	*command.Env
	save, html string // directories, "" for none
	quiet      bool   // nothing is printed
}

// keep saves and draws a finding, and notes the files in found. A finding that does not happen in
// each run is not saved, as it could not be replayed. The traces of two of its runs are saved
// instead.
func (f findings) keep(
	found *report.Violation, o *scenario.Outcome, unsteady *hunt.Divergence,
) (err error) {
	switch {
	case unsteady != nil && f.quiet:
		return nil
	case unsteady != nil:
		f.Printf(unsteadyText, o.Property(), hunt.Diverges("run"), unsteady)
		return f.saveBoth(*unsteady)
	}
	if found.File, err = f.saveScenario(saved.Of(o), scenarioName(o)); err != nil {
		return err
	}
	if found.Picture, err = f.draw(o, found.File); err != nil {
		return err
	}
	if found.File == "" && found.Picture != "" { // the scenario is beside the picture
		found.File = strings.TrimSuffix(found.Picture, ".html") + ".yaml"
	}
	if found.File != "" {
		found.Repeat = f.Repeat(found.File)
	}
	if f.quiet {
		return nil
	}
	return f.saveSimulated(o)
}

// saveSimulated says what a simulation repeats of a finding on a running ensemble, makes the first
// run that does small, and saves it.
func (f findings) saveSimulated(o *scenario.Outcome) error {
	text, first := o.Simulated()
	if text != "" {
		f.Printf("%s\n", text)
	}
	dir := cmp.Or(f.save, f.html)
	if first == nil || dir == "" {
		return nil
	}
	first, finished, err := hunt.Minimize(f.Context, first)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, scenarioName(first))
	if err := savedFile(f.Env, first).Save(name); err != nil {
		return err
	}
	small := "made small"
	if !finished {
		small = "made smaller"
	}
	f.Printf("to play it there, %s: %s replay %s\n", small, f.Call, saved.ShellWord(name))
	return nil
}

// saveBoth writes the traces of the two runs of a divergence, if there is a directory for them, and
// prints the command that compares them.
func (f findings) saveBoth(d hunt.Divergence) error {
	if f.save == "" {
		return nil
	}
	w := d.Scenario.Workload
	names, err := d.SaveTraces(f.save, baseName(w.Name, w.Impl)+"-")
	if err != nil || names == nil {
		return err
	}
	f.Printf("to compare the traces: %s diff %s %s\n", f.Call,
		saved.ShellWord(names[0]), saved.ShellWord(names[1]))
	return nil
}

// saveScenario writes a scenario file and returns its name. Unless quiet, it prints the command
// that repeats the scenario. Without a directory, or if the file cannot be written, it prints the
// scenario instead.
func (f findings) saveScenario(file saved.File, name string) (string, error) {
	file.Command = f.Call + " replay FILE"
	hint := " (--save DIR writes it)"
	if f.save != "" {
		name = filepath.Join(f.save, name)
		err := file.Save(name)
		if err == nil {
			if !f.quiet {
				f.Printf("\nto see it again: %s\n", f.Repeat(name))
			}
			return name, nil
		}
		f.PrintError(err) // the other findings are not lost
		hint = ""
	}
	if !f.quiet {
		f.Printf("\nthe scenario, as a file%s:\n\n%s", hint, command.Indent(string(file.Text())))
	}
	return "", nil
}

// draw writes the picture of a finding, if there is a directory for it, and returns the name of the
// file. scenarioFile is the saved finding; without one its scenario is written beside the picture,
// so that the page can name the command that repeats it.
func (f findings) draw(o *scenario.Outcome, scenarioFile string) (string, error) {
	if f.html == "" {
		return "", nil
	}
	base := filepath.Join(f.html, scenarioName(o))
	if scenarioFile == "" {
		if err := savedFile(f.Env, o).Save(base); err != nil {
			return "", fmt.Errorf("--html: %w", err)
		}
		scenarioFile = base
	}
	name := strings.TrimSuffix(base, ".yaml") + ".html"
	if err := picture.Add(f.html, filepath.Base(name), o, f.Repeat(scenarioFile)); err != nil {
		return "", fmt.Errorf("--html: %w", err)
	}
	if !f.quiet {
		f.Printf("the picture: %s\n", name)
	}
	return name, nil
}

// savedFile is the scenario file of an outcome. It names this program as the one that replays it.
func savedFile(env *command.Env, o *scenario.Outcome) saved.File {
	file := saved.Of(o)
	file.Command = env.Call + " replay FILE"
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
