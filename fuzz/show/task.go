package show

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Task is a request of the command to the program of a test: to show the run of a scenario file.
type Task struct {
	View     View
	Scenario string // the absolute name of the file
	Out      string // the file for the output, "" for the terminal
	Outcome  string // the file for the encoded outcome, which is all to be shown; "" for none
	Result   string // the file for the Result, as JSON
}

// Result is how a task ended.
type Result struct {
	AsExpected bool
	Error      string // "" if the run was shown
}

// FromOutside is in what the runtime says of a channel or a timer that goroutines use both within
// and outside the bubble of a run. In a process with one run it was made before that.
const FromOutside = "from outside bubble"

// taskVar is the variable of the environment with the task, as JSON.
const taskVar = "ZKSIM_TASK"

// Variable is the variable of the environment that gives a program the task.
func (t Task) Variable() (string, error) {
	text, err := json.Marshal(t)
	return taskVar + "=" + string(text), err
}

// DoTask does the task of this program with the workload of a test, and reports whether there is
// one. From then on the program writes nothing more to its standard output.
func DoTask(w scenario.Workload) (bool, error) {
	text := os.Getenv(taskVar)
	if text == "" {
		return false, nil
	}
	var t Task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return true, fmt.Errorf("%s: %w", taskVar, err)
	}
	var result Result
	var err error
	if result.AsExpected, err = t.do(w); err != nil {
		result.Error = err.Error()
	}
	if text, err := json.Marshal(result); err != nil {
		return true, err
	} else if err := os.WriteFile(t.Result, text, 0o666); err != nil {
		return true, err
	}
	if os.Stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		return true, err
	}
	return true, nil
}

// do shows the run, and reports whether it is as expected.
func (t Task) do(w scenario.Workload) (asExpected bool, err error) {
	file, err := saved.Load(t.Scenario, scenario.Catalogue{w}.Find)
	if err != nil {
		return false, err
	}
	if t.Outcome != "" {
		return true, t.encode(file.Scenario)
	}
	r, err := file.Check(true)
	if err != nil {
		return false, err
	}
	out := os.Stdout
	if t.Out != "" {
		if out, err = os.Create(t.Out); err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
	}
	return len(r.Problems) == 0, t.View.Show(context.Background(), r, os.Stdin, out)
}

// encode plays a scenario and writes its outcome.
func (t Task) encode(s scenario.Scenario) error {
	o, err := s.Run()
	if err != nil {
		return err
	}
	text, err := o.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(t.Outcome, text, 0o666)
}
