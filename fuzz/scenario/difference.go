package scenario

import (
	"fmt"
	"strings"
)

// moreRuns is how many more times a finding is run before it is reported. With one more run, a
// failure of one run in ten would pass for steady one time in ten.
const moreRuns = 3

// Steady runs the scenario three more times and reports whether each run has the same outcome. If
// one has not, differing is its outcome, nil if the scenario cannot be run any more. A finding that
// is not steady is of no use. Code that shares state between runs, or uses math/rand or map order,
// causes such findings. A run whose code spins counts as steady and is not repeated: each run would
// take as long as the World waits, and leave one more goroutine that spins.
func (o *Outcome) Steady() (steady bool, differing *Outcome) {
	if o.Result.Spins {
		return true, nil
	}
	for range moreRuns {
		again, err := o.Scenario.Run()
		if err != nil || o.Difference(again) != "" {
			return false, again
		}
	}
	return true, nil
}

// Shows runs a violating scenario some more times, and returns how many of the runs violate the
// same property.
func (o *Outcome) Shows(runs int) (times int) {
	for range runs {
		if again, err := o.Scenario.Run(); err == nil && again.Property() == o.Property() {
			times++
		}
	}
	return times
}

// Difference is the first difference between two outcomes of one scenario, in two lines; "" if
// there is none. It compares the trace, the history, the leftovers, the verdicts and the story.
func (o *Outcome) Difference(other *Outcome) string {
	if o.Result.Trace.Hash() != other.Result.Trace.Hash() {
		return firstDifference("trace", o.Result.Trace.String(), other.Result.Trace.String())
	}
	for _, part := range []struct {
		name string
		text func(*Outcome) string
	}{
		{"history", historyText},
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
		strings.Join(o.Measurements(), "\n"), o.Report.Lost, o.Report.Duplicated, o.Reached, o.Hangs)
	return b.String()
}
