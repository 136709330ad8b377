package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

type diffCommand struct {
	A       string `arg:"" help:"Scenario file, or a trace that zksim replay --trace has printed."`
	B       string `arg:"" help:"The same, to compare with."`
	Context int    `help:"Lines to show before and after the first difference." default:"5"`
}

// Run compares two traces and prints the first difference.
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
	c.printRest(a, "-", left[n:])
	c.printRest(a, "+", right[n:])
	return errViolated
}

// printRest prints the first lines of the part of a trace that differs.
func (c *diffCommand) printRest(a *app, mark string, rest []string) {
	if len(rest) == 0 {
		a.printf("%s (the end)\n", mark)
	}
	for _, line := range rest[:min(len(rest)-1, c.Context)+1] {
		a.printf("%s %s\n", mark, line)
	}
}

// equalPart is a text about the equal first lines of two traces that differ.
func equalPart(n int) string {
	switch n {
	case 0:
		return "no line is equal"
	case 1:
		return "the first line is equal"
	}
	return fmt.Sprintf("the first %d lines are equal", n)
}

// traceOf is the trace of a scenario file, which is run, or of a text with a trace.
func traceOf(workloads scenario.Catalogue, name string) ([]string, error) {
	if isScenario(name) {
		file, err := saved.Load(name, workloads.Find)
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

// traceLine matches the beginning of a line of a trace: a number and a time.
var traceLine = regexp.MustCompile(`^ *([0-9]+) +[0-9]+\.[0-9]{6}s  `)

// printedTrace is the trace in a text: its lines from number 1 on, up to a blank line or the
// end of the text. No line before or after it may look like a line of a trace.
func printedTrace(name, text string) ([]string, error) {
	var trace []string
	at, over := 0, false
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimRight(line, "\r\n")
		number := traceLine.FindStringSubmatch(line)
		switch {
		case number != nil && over:
			return nil, fmt.Errorf("%s:%d: line %s of a trace, which has ended before", name,
				at, number[1])
		case number != nil && number[1] != fmt.Sprint(len(trace)+1):
			return nil, fmt.Errorf("%s:%d: line %s of a trace; expected line %d "+
				"(zksim replay --trace prints all of them, a story does not)",
				name, at, number[1], len(trace)+1)
		case number != nil:
			trace = append(trace, line)
		case len(trace) == 0 || over:
		case strings.TrimSpace(line) == "":
			over = true
		default:
			return nil, fmt.Errorf("%s:%d: found %q; expected line %d of a trace",
				name, at, cut(line, 40), len(trace)+1)
		}
	}
	if len(trace) == 0 {
		return nil, fmt.Errorf("%s: neither a scenario file (.yaml) nor a trace: "+
			"no line looks like one of a trace", name)
	}
	return trace, nil
}
