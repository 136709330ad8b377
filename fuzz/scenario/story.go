package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/linearizability"
)

// Story describes a run for a person: the verdict in words, the plan, and the part of the trace
// that matters.
func (o *Outcome) Story() string {
	var b strings.Builder
	switch property, summary := o.Property(), o.Summary(); {
	case property != "":
		fmt.Fprintf(&b, "%s is violated: %s\n", property, summary)
		if v := o.Report.First(); v.Status == linearizability.Violated && v.Property != property {
			fmt.Fprintf(&b, "%s is violated, too: %s\n", v.Property,
				o.Result.Trace.Rename(v.Summary))
		}
	case summary != "":
		fmt.Fprintf(&b, "verdict: %s: %s\n", o.Status(), summary)
	default:
		fmt.Fprintf(&b, "verdict: %s\n", o.Status())
	}
	fmt.Fprintf(&b, "\n  %s\n", o.Scenario)
	if len(o.Scenario.Plan) == 0 && o.Scenario.recorded == nil {
		b.WriteString("  no faults\n")
	}
	for _, f := range o.Faults() {
		note := ""
		if slices.Contains(o.Result.Missed, f) {
			note = ", which matches nothing in this run"
		}
		fmt.Fprintf(&b, "  fault: %s%s\n", f, note)
	}
	clock := "virtual time"
	if o.Scenario.recorded != nil || o.Scenario.On != nil {
		clock = "time"
	}
	fmt.Fprintf(&b, "\nwhat happened (step, %s, who):\n\n", clock)
	b.WriteString(o.excerpt())
	if at := brokeAt(o.Result); at != "" {
		fmt.Fprintf(&b, "\nwhere it broke, the innermost call first:\n\n%s", at)
	}
	if o.Hangs != "" {
		fmt.Fprintf(&b, "\nwhere it hangs, the innermost call first:\n\n%s", o.Hangs)
	}
	return b.String()
}

// Faults lists the faults that the run had. Those that match nothing, and were left out of the plan
// for that, are the last.
func (o *Outcome) Faults() []fault.Fault {
	faults := slices.Clone(o.Scenario.Plan)
	for _, f := range o.Result.Missed {
		if !slices.Contains(faults, f) {
			faults = append(faults, f)
		}
	}
	return faults
}

// Measurements are the measured values besides the verdicts, one line each.
func (o *Outcome) Measurements() []string {
	r := o.Report
	var lines []string
	for _, z := range r.ZombieWindows {
		lines = append(lines,
			fmt.Sprintf("zombie window: %s could not know for %s "+
				"that it had lost the lock (steps %d to %d)",
				z.Client, virtualTime(z.Duration), z.From, z.To))
	}
	if r.MaxHerd > 0 {
		lines = append(lines, fmt.Sprintf("herd: at most %d watch notifications per release",
			r.MaxHerd))
	}
	if r.Granted > 0 {
		lines = append(lines, fmt.Sprintf("waits: %d granted, the longest took %s", r.Granted,
			virtualTime(r.LongestWait)))
	}
	return lines
}

// Verdicts are the verdicts on each property. The first verdict of a run that panicked or froze
// says so; it does not come from a judge.
func (o *Outcome) Verdicts() []linearizability.Verdict {
	var verdicts []linearizability.Verdict
	if v, broke := o.broke(); broke {
		v.Summary = o.Result.Trace.Rename(v.Summary)
		verdicts = append(verdicts, v)
	}
	for _, v := range o.Report.Verdicts {
		v.Summary = o.Result.Trace.Rename(v.Summary)
		verdicts = append(verdicts, v)
	}
	return verdicts
}
