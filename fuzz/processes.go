package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
	"github.com/zksim/zksim/linearizability"
)

// byProcesses plays each scenario of a test in a process of its own: the program of the test again,
// with a task. So what the code under test keeps in variables of its package begins anew.
func byProcesses(t TB) func(scenario.Scenario) (*scenario.Outcome, error) {
	return func(s scenario.Scenario) (*scenario.Outcome, error) {
		o, err := playApart(saved.TestOf(t.Name()), s)
		died := (*processDied)(nil)
		switch {
		case !errors.As(err, &died) || died.bySignal():
			return o, err
		case bytes.Contains(died.said, []byte(show.FromOutside)):
			return nil, fmt.Errorf("%s: %w", madeBefore, err)
		}
		return nil, fmt.Errorf("%w\n%s%s", err, saveDeath(t, s),
			scenario.NetworkHint(string(died.said)))
	}
}

// madeBefore says in words what the runtime says of a channel.
const madeBefore = "nothing can be decided: a connection, or another channel or timer, that was made " +
	"before the run, as by init, is used in it: let the code make it at its first use"

// processDied is the error of a process that ended before its run did.
type processDied struct {
	end  error
	said []byte
}

// bySignal reports whether a signal ended the process, such as an interrupt.
func (d *processDied) bySignal() bool {
	var exit *exec.ExitError
	return errors.As(d.end, &exit) && exit.ExitCode() < 0
}

func (d *processDied) Error() string {
	const most = 4096
	said := d.said
	if len(said) > most {
		said = append([]byte("... "), said[len(said)-most:]...)
	}
	return strings.TrimSpace(fmt.Sprintf("the process of the run ended: %v\n%s", d.end, said))
}

// playApart plays a scenario in a new process.
func playApart(test saved.Test, s scenario.Scenario) (*scenario.Outcome, error) {
	dir, err := os.MkdirTemp("", "zksim-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	task := show.Task{
		Scenario: filepath.Join(dir, "scenario.yaml"),
		Outcome:  filepath.Join(dir, "outcome"),
		Result:   filepath.Join(dir, "result"),
	}
	file := saved.File{Scenario: s, Expect: linearizability.OK}
	if err := file.Save(task.Scenario); err != nil {
		return nil, err
	}
	variable, err := task.Variable()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, append([]string{"-test.run=" + test.Pattern()}, ownArgs()...)...)
	cmd.Env = append(os.Environ(), variable)
	said, end := cmd.CombinedOutput()
	text, err := os.ReadFile(task.Result)
	if err != nil {
		return nil, &processDied{end, bytes.TrimSpace(said)}
	}
	var result show.Result
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, err
	}
	if result.Error != "" {
		return nil, errors.New(result.Error)
	}
	text, err = os.ReadFile(task.Outcome)
	if err != nil {
		return nil, err
	}
	return s.Decode(text)
}

// ownArgs are the arguments of this program that are neither flags of package testing nor of this
// package: those of the test's author.
func ownArgs() (args []string) {
	for _, arg := range os.Args[1:] {
		name := strings.TrimLeft(arg, "-")
		if !strings.HasPrefix(name, "test.") && !strings.HasPrefix(name, flagPrefix) {
			args = append(args, arg)
		}
	}
	return args
}

// saveDeath saves a scenario that ends its process, and returns the command that shows it again.
func saveDeath(t TB, s scenario.Scenario) string {
	file := saved.File{Scenario: s, Expect: linearizability.Violated, Property: saved.Crash}
	name := filepath.Join(savedDir(t), crashPrefix+hashOf(file.Text())+".yaml")
	file.Test, file.Command = saved.TestOf(t.Name()), replayCommand(t, name)
	if err := file.Save(name); err != nil {
		return fmt.Sprintf("it could not be saved: %v", err)
	}
	return "to see it again: " + file.Command
}
