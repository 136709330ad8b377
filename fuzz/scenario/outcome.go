package scenario

import (
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// Outcome is the result of a run of a Scenario.
type Outcome struct {
	Scenario Scenario
	// Result is the run with its trace.
	Result *trace.Result
	// History is the record of the clients and of the server; its steps are lines of the trace.
	History linearizability.History
	// Rest is the world after the faults and the scripts had ended, nil if CutShort.
	Rest *linearizability.Leftovers
	// CutShort says that the virtual time of the run ended while clients still made progress, or
	// that the run ran out of steps (sim.World.MaxSteps): then liveness and leftovers are unknown.
	// A run that was ended because of a runaway is cut short, too, and liveness is violated.
	CutShort bool
	// Report holds the verdicts.
	Report linearizability.Report
	// Playing is the virtual time at which the last script had ended.
	Playing time.Duration
	// Reached are the goals that scripts have reached, sorted.
	Reached []string
	// Optional has the optional methods of the object and whether they were called; see
	// [Record.Optional].
	Optional map[string]bool
	// Shared says that the object is made for several goroutines of a client (see [Record.Shared]
	// and Handles of [Workload]), and that the script can have them. A hunt then has some scenarios
	// with two or three.
	Shared bool
	// Hangs is the place of each script that hangs outside of every call, one line for each
	// function; "" if there is none.
	Hangs string

	maker       func() string // see Maker; nil if the scenario was not played in a World
	usedNetwork bool          // see OnNetwork
	sharesConn  bool          // see SharesConn
	observer    string        // see Observed
	signals     bool          // the object has a signal of loss; see OKWith
}

// Status is the worst status of the verdicts. A run that panicked is always violated, and a run
// that froze is violated if code spins, or if without faults it waits for
// a mutex that nobody can unlock.
func (o *Outcome) Status() linearizability.Status { return o.first().Status }

// Property names the violated property, "" if there is none. Besides the properties of package
// linearizability there are "panic" and "frozen".
func (o *Outcome) Property() string {
	if v := o.first(); v.Status == linearizability.Violated {
		return v.Property
	}
	return ""
}

// Summary is one line about the violation, or about the reason for which the run is undecided, in
// the words of the trace. It is "" if there is neither.
func (o *Outcome) Summary() string {
	if v := o.first(); v.Status != linearizability.OK {
		return o.Result.Trace.Rename(v.Summary)
	}
	return ""
}

// first is the verdict to show first.
func (o *Outcome) first() linearizability.Verdict {
	if v, broke := o.broke(); broke {
		return v
	}
	return o.Report.First()
}

// Broke reports whether the run panicked or froze: it has no history.
func (o *Outcome) Broke() bool {
	_, broke := o.broke()
	return broke
}

// broke is the verdict on a run that panicked or froze: no judge sees such a run.
func (o *Outcome) broke() (v linearizability.Verdict, broke bool) {
	switch {
	case len(o.Result.Panics) > 0:
		return linearizability.Verdict{Property: panicProperty, Status: linearizability.Violated,
			Summary: firstLine(o.Result.Panics[0]) + panickedAt(o.Result) +
				beforePanic(o.Result)}, true
	case o.Result.Frozen != "":
		return o.frozenVerdict(), true
	}
	return v, false
}

// EndedByGuard says why a guard has ended a run, in the words of the trace: it froze, it has code
// that works without end, or it was too long. It is "" if no guard has.
func EndedByGuard(r *trace.Result) string {
	switch o := (&Outcome{Result: r}); {
	case r.Frozen != "":
		return r.Trace.Rename(o.frozenVerdict().Summary)
	case r.Runaway != nil:
		return r.Trace.Rename(runawayVerdict(r).Summary)
	case r.OutOfSteps:
		return outOfSteps(r) + ", and not tried to its end"
	}
	return ""
}

func violatedLiveness(steps []int64, format string, args ...any) linearizability.Verdict {
	return linearizability.Verdict{
		Property: linearizability.Liveness, Status: linearizability.Violated, Steps: steps,
		Summary: fmt.Sprintf(format, args...),
	}
}
