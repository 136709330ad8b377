package scenario

import (
	"fmt"
	"reflect"
	"strings"
)

// Difference is the first difference between two outcomes of one scenario, in two lines, or "" if
// there is none. It compares the trace, the history, the leftovers, the verdicts and the story.
func (o *Outcome) Difference(other *Outcome) string {
	if !o.Result.Trace.Equal(other.Result.Trace) {
		return firstDifference("trace", o.Result.Trace.String(), other.Result.Trace.String())
	}
	if !reflect.DeepEqual(o.History, other.History) { // which is quicker than its text
		if d := firstDifference("history", historyText(o), historyText(other)); d != "" {
			return d
		}
	}
	for _, part := range []struct {
		name string
		text func(*Outcome) string
	}{
		{"leftovers", func(o *Outcome) string { return fmt.Sprintf("%+v", o.Rest) }},
		{"report", reportText},
		{"story", (*Outcome).Story},
	} {
		if d := firstDifference(part.name, part.text(o), part.text(other)); d != "" {
			return d
		}
	}
	return ""
}

// firstDifference is the first line in which two texts differ, "" if there is none.
func firstDifference(name, a, b string) string {
	if a == b {
		return ""
	}
	first, second := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(first), len(second)) {
		x, y := lineOf(first, i), lineOf(second, i)
		if x != y {
			return fmt.Sprintf("%s, line %d, of one run:   %s\n%s, line %d, of the other: %s",
				name, i+1, x, name, i+1, y)
		}
	}
	return ""
}

func lineOf(lines []string, i int) string {
	if i >= len(lines) {
		return "(none)"
	}
	return lines[i]
}

// historyText has a line for each operation, server event and notice.
func historyText(o *Outcome) string {
	var b strings.Builder
	for _, op := range o.History.Ops {
		fmt.Fprintf(&b, "%+v\n", op)
	}
	for _, e := range o.History.Server {
		fmt.Fprintf(&b, "%+v\n", e)
	}
	for _, n := range o.History.Notices {
		fmt.Fprintf(&b, "%+v\n", n)
	}
	fmt.Fprintf(&b, "end: %d, %s\n", o.History.End, o.History.EndTime)
	return b.String()
}

// reportText has a line for each verdict and measurement.
func reportText(o *Outcome) string {
	var b strings.Builder
	for _, v := range o.Verdicts() {
		fmt.Fprintf(&b, "%+v\n", v)
	}
	fmt.Fprintf(&b, "%s\nlost %q, doubled %q\nreached %q\nhangs %s\n",
		strings.Join(o.Measurements(), "\n"), o.Report.Lost, o.Report.Duplicated, o.Reached,
		o.Hangs)
	return b.String()
}
