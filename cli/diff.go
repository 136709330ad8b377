package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/zksim/zksim/fuzz"
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
	a.printf("the first %s are equal; then they differ:\n\n", plural(n, "line"))
	for _, line := range left[max(0, n-c.Context):n] {
		a.printf("  %s\n", line)
	}
	for _, side := range []struct {
		mark string
		rest []string
	}{{"-", left[n:]}, {"+", right[n:]}} {
		for _, line := range side.rest[:min(len(side.rest), c.Context+1)] {
			a.printf("%s %s\n", side.mark, line)
		}
		if len(side.rest) == 0 {
			a.printf("%s (the end)\n", side.mark)
		}
	}
	return errViolated
}

// traceLine is how a trace's line begins: a number, a time, who.
var traceLine = regexp.MustCompile(`^ *[0-9]+ +[0-9]+\.[0-9]{6}s  `)

// traceOf is the trace of a scenario file, which is run, or out of a text that
// holds one.
func traceOf(workloads fuzz.Catalogue, name string) ([]string, error) {
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		file, err := workloads.Load(name)
		if err != nil {
			return nil, err
		}
		o, err := file.Scenario.Run()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return lines(o.Result.Trace.String()), nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	trace := lines(string(text))
	if len(trace) == 0 {
		return nil, fmt.Errorf("%s: neither a scenario file (.yaml) nor a trace: no line looks like one of a trace", name)
	}
	return trace, nil
}

func lines(text string) []string {
	var kept []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); traceLine.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return kept
}
