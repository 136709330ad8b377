// Package command is what the commands of zksim share: where a command prints, how it is
// interrupted, and how it ends.
package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
)

// An Env is the environment of a command.
type Env struct {
	Name     string          // of the program
	Call     string          // what a shell calls it by
	Context  context.Context // done after an interrupt
	In       io.Reader
	Text     io.Writer // for people
	Raw      io.Writer // the same, for programs
	Errors   io.Writer
	Progress *Progress
	On       *scenario.Ensemble // the running ensemble; nil for simulations

	out     *firstError
	printed []error // by PrintError
}

// NewEnv is the environment of a program that prints to stdout and stderr. Text for a terminal has
// colours and wrapped lines.
func NewEnv(ctx context.Context, name string, in io.Reader, stdout, stderr io.Writer) *Env {
	out := &firstError{to: stdout}
	return &Env{
		Name: name, Call: name, Context: ctx, In: in, Text: style(out, stdout), Raw: out,
		Errors: stderr, Progress: progressOn(stderr), out: out,
	}
}

// OutputError is the first error of a write to stdout, so that commands need not check each line of
// their output.
func (e *Env) OutputError() error { return e.out.err }

// JSON prints a value for programs.
func (e *Env) JSON(v any) error {
	e.Progress.Clear()
	return show.WriteJSON(e.Raw, v)
}

// Printf prints text for people.
func (e *Env) Printf(format string, args ...any) {
	e.Progress.Clear()
	fmt.Fprintf(e.Text, format, args...)
}

// Note prints a line on stderr, after the name of the program.
func (e *Env) Note(format string, args ...any) {
	e.Progress.Clear()
	fmt.Fprintf(e.Errors, "%s: %s\n", e.Name, fmt.Sprintf(format, args...))
}

// PrintError prints an error on stderr, after the name of the program.
func (e *Env) PrintError(err error) {
	e.Note("%v", err)
	e.printed = append(e.printed, err)
}

// Reach connects to the addresses of the flag --servers, if it has any: scenarios are played there.
func (e *Env) Reach(servers *scenario.Servers) error {
	if err := servers.Reach(e.Context); err != nil {
		return fmt.Errorf("--servers: %w", err)
	}
	e.On = servers.On()
	return nil
}

// Repeat is the command that plays a scenario file again, for a shell.
func (e *Env) Repeat(file string) string {
	if e.On != nil {
		return e.Call + " run --servers " + e.On.String() + " " + saved.ShellWord(file)
	}
	return e.Call + " replay " + saved.ShellWord(file)
}

// Indent moves each line of a text to the right.
func Indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// Plural is "1 fault" or "2 faults".
func Plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// firstError is a writer that keeps its first error.
type firstError struct {
	to  io.Writer
	err error
}

func (w *firstError) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}
