package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
)

type diffCommand struct {
	A       string `arg:"" help:"Scenario file, or a trace that zksim replay --trace has printed."`
	B       string `arg:"" help:"What to compare it with."`
	Context int    `help:"Lines to show before and after the first difference." default:"5"`
}

// Run compares two traces and shows where they part.
func (c *diffCommand) Run(a *app) error {
	if c.Context < 0 {
		return fmt.Errorf("--context must not be negative")
	}
	left, err := traceOf(a.files, c.A)
	if err != nil {
		return err
	}
	right, err := traceOf(a.files, c.B)
	if err != nil {
		return err
	}
	n := 0
	for n < min(len(left), len(right)) && left[n] == right[n] {
		n++
	}
	if n == len(left) && n == len(right) {
		a.printf("the traces are equal: %s\n", plural(n, "line"))
		return nil
	}
	a.printf("%s; then they differ:\n\n", equalPart(n))
	for _, line := range left[max(0, n-c.Context):n] {
		a.printf("  %s\n", line)
	}
	for _, side := range []struct {
		mark string
		rest []string
	}{{"-", left[n:]}, {"+", right[n:]}} {
		for _, line := range side.rest[:min(len(side.rest)-1, c.Context)+1] {
			a.printf("%s %s\n", side.mark, line)
		}
		if len(side.rest) == 0 {
			a.printf("%s (the end)\n", side.mark)
		}
	}
	return errViolated
}

// equalPart says how much of two traces that differ is equal.
func equalPart(n int) string {
	switch n {
	case 0:
		return "no line is equal"
	case 1:
		return "the first line is equal"
	}
	return fmt.Sprintf("the first %d lines are equal", n)
}

// traceOf is the trace of a scenario file, which is run, or out of a text that
// holds one.
func traceOf(workloads scenario.Catalogue, name string) ([]string, error) {
	if isScenario(name) {
		file, err := workloads.Load(name)
		if err != nil {
			return nil, err
		}
		o, err := file.Scenario.Run()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return printedTrace(name, o.Result.Trace.String())
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return printedTrace(name, string(text))
}

// traceLine is how a trace's line begins: a number, a time, who.
var traceLine = regexp.MustCompile(`^ *([0-9]+) +[0-9]+\.[0-9]{6}s  `)

// printedTrace is the trace that a text holds: its lines from number 1 on, with nothing
// between them, up to a blank line or the end of the text. What stands before and after
// it must not look like lines of a trace.
func printedTrace(name, text string) ([]string, error) {
	var trace []string
	at, over := 0, false
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimRight(line, "\r\n")
		number := traceLine.FindStringSubmatch(line)
		switch {
		case number != nil && over:
			return nil, fmt.Errorf("%s:%d: line %s of a trace, which has ended before", name, at, number[1])
		case number != nil && number[1] != fmt.Sprint(len(trace)+1):
			return nil, fmt.Errorf("%s:%d: line %s of a trace; expected line %d (zksim replay --trace prints all of them, a story does not)",
				name, at, number[1], len(trace)+1)
		case number != nil:
			trace = append(trace, line)
		case len(trace) == 0 || over:
		case strings.TrimSpace(line) == "":
			over = true
		default:
			return nil, fmt.Errorf("%s:%d: found %q; expected line %d of a trace", name, at, cut(line, 40), len(trace)+1)
		}
	}
	if len(trace) == 0 {
		return nil, fmt.Errorf("%s: neither a scenario file (.yaml) nor a trace: no line looks like one of a trace", name)
	}
	return trace, nil
}
