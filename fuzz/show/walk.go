package show

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
)

const stepHelp = `return: the next line       N: go to line N       b: back one line
s: the world at this line   c: on to the next fault, call or return
v: the verdicts             q: quit
`

// stepper is a walk through a run by typed commands.
type stepper struct {
	outcome *scenario.Outcome
	at      int64 // the line shown last
	out     io.Writer
}

// walk shows a run line by line. It reads commands from in, one a line, until the end of
// in or until ctx is done.
func walk(ctx context.Context, o *scenario.Outcome, from int64, in io.Reader, out io.Writer) error {
	s := &stepper{outcome: o, at: from - 1, out: out}
	fmt.Fprintf(out, "%s, %d lines\n%s\n", o.Scenario, o.Result.Trace.Len(), stepHelp)
	lines, failed := make(chan string), make(chan error, 1)
	go func() { // may outlive walk: a read from a terminal cannot be interrupted
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- scanner.Err()
	}()
	s.move(1)
	for {
		fmt.Fprint(out, "> ")
		Flush(out)
		select {
		case <-ctx.Done():
			fmt.Fprintln(out)
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				fmt.Fprintln(out)
				return errors.Join(ctx.Err(), <-failed)
			}
			if !s.runCommand(strings.TrimSpace(line)) {
				return nil
			}
		}
	}
}

// Flush writes the line that is not complete yet.
func Flush(out io.Writer) {
	if f, ok := out.(interface{ Flush() error }); ok {
		f.Flush() // the next write has the same error
	}
}

// runCommand runs a command, and reports whether the walk goes on.
func (s *stepper) runCommand(command string) bool {
	n, err := strconv.ParseInt(command, 10, 64)
	switch {
	case err == nil && n >= 1 && n <= s.last():
		s.at = n
		s.show()
	case err == nil:
		fmt.Fprintf(s.out, "there are lines 1 to %d\n", s.last())
	case command == "":
		s.move(1)
	case command == "b":
		s.move(-1)
	case command == "s":
		fmt.Fprint(s.out, worldAt(s.outcome, s.at))
	case command == "c":
		s.next()
	case command == "v":
		for _, v := range s.outcome.Verdicts() {
			fmt.Fprintf(s.out, "  %s\n", v)
		}
	case command == "q":
		return false
	default:
		fmt.Fprint(s.out, stepHelp)
	}
	return true
}

func (s *stepper) last() int64 { return int64(s.outcome.Result.Trace.Len()) }

func (s *stepper) show() { fmt.Fprintln(s.out, s.outcome.Result.Trace.Line(s.at)) }

func (s *stepper) move(by int64) {
	if to := s.at + by; to < 1 || to > s.last() {
		fmt.Fprintf(s.out, "there are lines 1 to %d\n", s.last())
		return
	}
	s.at += by
	s.show()
}

// next goes on to the next line with a fault, a call or a return.
func (s *stepper) next() {
	marks := map[int64]bool{}
	for _, op := range s.outcome.History.Ops {
		marks[op.Call], marks[op.Return] = true, true
	}
	for _, f := range s.outcome.Result.Strikes {
		marks[f.Step] = true
	}
	for n := s.at + 1; n <= s.last(); n++ {
		if marks[n] {
			s.at = n
			s.show()
			return
		}
	}
	fmt.Fprintln(s.out, "no fault, call or return after this line")
}
