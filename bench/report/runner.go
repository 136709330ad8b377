package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A runner runs the commands of the sections, at the root of the main module.
type runner struct {
	ctx     context.Context
	log     io.Writer // each command, as it starts
	root    string
	scratch string        // a temporary directory
	zksim   string        // the command of that name, once it is built
	cpu     time.Duration // of the last command
}

func newRunner(ctx context.Context, log io.Writer) (*runner, error) {
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/zksim/zksim")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("find the main module: %w", err)
	}
	scratch, err := os.MkdirTemp("", "zksim-report-*")
	if err != nil {
		return nil, err
	}
	return &runner{ctx: ctx, log: log, root: strings.TrimSpace(string(out)), scratch: scratch}, nil
}

func (l *runner) close() error { return os.RemoveAll(l.scratch) }

// A failure is the error of a command that ran and ended with another status than 0.
type failure struct {
	command string
	status  int
	stderr  string
}

func (f *failure) Error() string {
	return fmt.Sprintf("%s: status %d\n%s", f.command, f.status, f.stderr)
}

// output runs a command and returns its standard output, with a *failure as well.
func (l *runner) output(env []string, name string, args ...string) (string, error) {
	shown := strings.Join(append([]string{filepath.Base(name)}, args...), " ")
	fmt.Fprintln(l.log, shown)
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(l.ctx, name, args...)
	cmd.Dir, cmd.Env = l.root, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	if cmd.ProcessState != nil {
		l.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if l.ctx.Err() != nil { // interrupted
		return "", l.ctx.Err()
	}
	var status *exec.ExitError
	if errors.As(err, &status) {
		err = &failure{shown, status.ExitCode(), problems.String()}
	}
	return out.String(), err
}

// run runs a command that must succeed.
func (l *runner) run(name string, args ...string) (string, error) {
	out, err := l.output(nil, name, args...)
	var failed *failure
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return out, err
}

// build builds the command zksim, once.
func (l *runner) build() error {
	if l.zksim != "" {
		return nil
	}
	program := filepath.Join(l.scratch, "zksim")
	if _, err := l.run("go", "build", "-o", program, "./cmd/zksim"); err != nil {
		return err
	}
	l.zksim = program
	return nil
}

// violated is the exit status of zksim when it has found something.
const violated = 1

// askZksim runs zksim with --json and decodes its output, with or without findings.
func (l *runner) askZksim(into any, env []string, args ...string) error {
	if err := l.build(); err != nil {
		return err
	}
	out, err := l.output(env, l.zksim, append(args, "--json")...)
	var failed *failure
	if errors.As(err, &failed) && failed.status == violated {
		err = nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		return fmt.Errorf("decode the output: %w", err)
	}
	return nil
}

// measured runs another command of this module, and returns its command line as a block of the
// page, with its output. It returns an error if servers or libraries to compare with are missing.
func (l *runner) measured(args ...string) (string, error) {
	args = append([]string{"run", "-C", "bench"}, args...)
	out, err := l.run("go", args...)
	if err == nil && strings.Contains(out, " is left out: ") {
		err = fmt.Errorf("something is missing:\n%s", out)
	}
	return commandBlock("go "+quoted(args...)) + out, err
}
