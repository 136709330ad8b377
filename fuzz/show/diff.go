package show

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
)

// Diff describes the first difference of two traces, with some lines before and after it. equal
// reports that there is none.
func Diff(left, right []string, context int) (text string, equal bool) {
	n := 0
	for n < min(len(left), len(right)) && left[n] == right[n] {
		n++
	}
	if n == len(left) && n == len(right) {
		return fmt.Sprintf("the traces are equal: %d %s\n", n,
			map[bool]string{true: "line", false: "lines"}[n == 1]), true
	}
	var b strings.Builder
	then := "they differ"
	switch n {
	case len(left):
		then = "the lines with - end"
	case len(right):
		then = "the lines with + end"
	}
	fmt.Fprintf(&b, "%s; then %s:\n\n", equalPart(n), then)
	for _, line := range left[max(0, n-context):n] {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	b.WriteString(rest("-", left[n:], context) + rest("+", right[n:], context))
	return b.String(), false
}

// DiffOfRun is [Diff] of the trace of a run and of that in a file, in which a line says which is
// which.
func DiffOfRun(run trace.Trace, file string, other []string) (text string, equal bool) {
	const context = 5
	mine := strings.Split(strings.TrimSuffix(run.String(), "\n"), "\n")
	text, equal = Diff(mine, other, context)
	if !equal {
		text = fmt.Sprintf("lines with - are of this run, those with + of %s:\n%s", file, text)
	}
	return text, equal
}

// rest are the first lines of the part of a trace that differs.
func rest(mark string, lines []string, context int) string {
	if len(lines) == 0 {
		return mark + " (the end)\n"
	}
	var b strings.Builder
	for _, line := range lines[:min(len(lines)-1, context)+1] {
		fmt.Fprintf(&b, "%s %s\n", mark, line)
	}
	return b.String()
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

// traceLine matches a line of a trace: a number, a time and more. In the log of a test it is
// indented, and the first one is behind the place in the code.
var traceLine = regexp.MustCompile(
	`^(?: *[^ :]+\.go:[0-9]+:)? *([0-9]+)( +[0-9]+\.[0-9]{6}s  .*)`)

// PrintedTrace is the trace in a text: its lines from number 1 on, up to a blank line or the
// end of the text. No line before or after it may look like a line of a trace. The text may be the
// output of go test.
func PrintedTrace(name, text string) ([]string, error) {
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
				"(a story leaves lines out; zksim replay --trace and -zksim.until=N do not)",
				name, at, number[1], len(trace)+1)
		case number != nil:
			trace = append(trace, fmt.Sprintf("%5s%s", number[1], number[2]))
		case len(trace) == 0 || over:
		case strings.TrimSpace(line) == "":
			over = true
		default:
			return nil, fmt.Errorf("%s:%d: found %.39q; expected line %d of a trace",
				name, at, line, len(trace)+1)
		}
	}
	if len(trace) == 0 {
		return nil, fmt.Errorf("%s: no line looks like one of a trace "+
			"(a scenario file ends in .yaml or .yml)", name)
	}
	return trace, nil
}
