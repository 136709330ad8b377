package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/show"
	"github.com/zksim/zksim/internal/inflight"
	"github.com/zksim/zksim/internal/overlay"
)

// testPrograms are the test programs that know the code of scenario files.
type testPrograms struct {
	*command.Env
	built map[saved.Test]testProgram // by packages and tags
}

// testProgram is the program of the tests of a package.
type testProgram struct {
	binary string // in a directory of its own
	dir    string // of the package
}

// close removes the programs.
func (p *testPrograms) close() {
	for _, program := range p.built {
		os.RemoveAll(filepath.Dir(program.binary))
	}
}

// show shows the run of a scenario file by the program of a test.
func (p *testPrograms) show(t saved.Test, v show.View, out io.Writer) error {
	file, err := filepath.Abs(v.File)
	if err != nil {
		return err
	}
	if p.On != nil {
		return fmt.Errorf("%s: only %s knows this code; to play it on the ensemble, run: %s",
			v.File,
			t.Name, t.Command("-zksim.replay="+file, "-zksim.servers="+p.On.String()))
	}
	program, err := p.build(t, filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("%s: only %s knows this code, and it cannot be built here: %w\n"+
			"in its module, run: %s", v.File, t.Name, err, t.Command("-zksim.replay="+file))
	}
	result, err := p.do(program, t, show.Task{View: v, Scenario: file}, out)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", v.File, err)
	case result.Error != "":
		return errors.New(strings.ReplaceAll(result.Error, file, v.File))
	case !result.AsExpected:
		return command.ErrViolated
	}
	return nil
}

// build builds the program of a test. The package belongs to the module of the current
// directory, or to the module of the scenario file's directory.
func (p *testPrograms) build(t saved.Test, beside string) (testProgram, error) {
	key := saved.Test{Package: t.Package, Tags: t.Tags}
	if done, ok := p.built[key]; ok {
		return done, nil
	}
	if t.Package == "" {
		return testProgram{}, errors.New("the file does not name its package")
	}
	dir, err := p.packageDir(t, beside)
	if err != nil {
		return testProgram{}, err
	}
	to, err := os.MkdirTemp("", "zksim-*")
	if err != nil {
		return testProgram{}, err
	}
	program := testProgram{filepath.Join(to, "test"), dir}
	p.Progress.Phase("building the tests of %s", t.Package)
	build, err := p.goTest(t, "-c", "-o", program.binary, ".")
	if err == nil {
		build.Dir = dir
		_, err = outputOf(build)
	}
	if err != nil {
		return testProgram{}, errors.Join(err, os.RemoveAll(to))
	}
	p.built[key] = program
	return program, nil
}

// packageDir is the directory of the package of a test.
func (p *testPrograms) packageDir(t saved.Test, beside string) (string, error) {
	var all error
	for _, in := range []string{".", beside} {
		list := exec.CommandContext(p.Context, "go", "list", "-tags="+t.Tags, "-f", "{{.Dir}}",
			t.Package)
		list.Dir = in
		dir, err := outputOf(list)
		if err == nil {
			return strings.TrimSpace(dir), nil
		}
		all = cmp.Or(all, err)
	}
	return "", all
}

// goTest is a call of go test, or of zksim go test if zksim go has built the test.
func (p *testPrograms) goTest(t saved.Test, args ...string) (*exec.Cmd, error) {
	tags := slices.DeleteFunc(strings.Split(t.Tags, ","), func(tag string) bool {
		return tag == overlay.Tag
	})
	args = append([]string{"test", "-tags=" + strings.Join(tags, ",")}, args...)
	if !strings.Contains(t.Tags, overlay.Tag) {
		return exec.CommandContext(p.Context, "go", args...), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(p.Context, self, append([]string{"go"}, args...)...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, inflight.Variable+"=")
	})
	return cmd, nil
}

// outputOf is the output of a command. The error has the command's own message.
func outputOf(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if said := strings.TrimSpace(stderr.String()); err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return string(text), err
}

// do lets the program of a test do a task, and copies the output to out.
func (p *testPrograms) do(
	program testProgram, t saved.Test, task show.Task, out io.Writer,
) (show.Result, error) {
	var result show.Result
	var noise bytes.Buffer
	run := func(flags ...string) ([]byte, error) {
		cmd, err := p.taskFor(program, t, &task, flags...)
		if err != nil {
			return nil, err
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, &noise, &noise
		if task.View.Step {
			cmd.Stdout = p.Raw // it does not hold back the beginning of a line
		}
		ended := cmd.Run()
		text, err := os.ReadFile(task.Result)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, notDone(t, ended, noise.String())
		}
		return text, errors.Join(err, os.RemoveAll(task.Result))
	}
	p.Progress.Clear()
	text, err := run()
	if err != nil && strings.Contains(noise.String(), show.FromOutside) {
		// A task of several runs, of code that keeps what it has dialed in the first.
		noise.Reset()
		text, err = run("-zksim.processes")
	}
	if p.Context.Err() != nil {
		return result, p.Context.Err()
	}
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(text, &result); err != nil || task.Out == "" || result.Error != "" {
		return result, err
	}
	shown, err := os.ReadFile(task.Out)
	if err == nil {
		_, err = out.Write(shown)
	}
	return result, err
}

// taskFor is the call of the program of a test with flags for a task, whose files it names.
func (p *testPrograms) taskFor(
	program testProgram, t saved.Test, task *show.Task, flags ...string,
) (_ *exec.Cmd, err error) {
	task.Result = program.binary + ".result"
	if !task.View.Step {
		task.Out = program.binary + ".out"
	}
	if task.View.HTML != "" {
		if task.View.HTML, err = filepath.Abs(task.View.HTML); err != nil {
			return nil, err
		}
	}
	variable, err := task.Variable()
	if err != nil {
		return nil, err
	}
	flags = append([]string{"-test.run=" + t.Pattern()}, flags...)
	cmd := exec.CommandContext(p.Context, program.binary, flags...)
	cmd.Dir = program.dir
	cmd.Env = append(cmd.Environ(), variable)
	return cmd, nil
}

// notDone is the error of a program that has ended without a result.
func notDone(t saved.Test, ended error, noise string) error {
	if ended == nil {
		return fmt.Errorf("no test of %s called %s plays a workload", t.Package, t.Name)
	}
	return fmt.Errorf("%s has ended before its end: %w\n%s", t.Name, ended, noise)
}
