package hunt

import (
	"fmt"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
)

// Holds reports whether all runs were tried, and none violates anything.
func (p *Proof) Holds() bool { return p.Complete && p.Violation == nil && p.Undecided == 0 }

// String is the result in one sentence.
func (p *Proof) String() string {
	within, quick := forScript(p.Scenario.Script)+", ", len(p.Bounds.Lasting) == 0
	switch {
	case p.Bounds.Faults == 0:
		within += "no faults"
	case p.Bounds.Faults == 1 && quick:
		within += "at most 1 fault that takes no time"
	case p.Bounds.Faults == 1:
		within += "at most 1 fault"
	case quick:
		within += fmt.Sprintf("at most %d faults that take no time", p.Bounds.Faults)
	default:
		within += fmt.Sprintf("at most %d faults", p.Bounds.Faults)
	}
	part := p.Bounds.Part.String()
	if part != "" && !p.idle() {
		within += ", shard " + part
	}
	switch {
	case p.idle():
		return fmt.Sprintf("shard %s has nothing to do, %s", part, within)
	case p.Violation != nil:
		return fmt.Sprintf("violated in run %d: %s", p.Runs, p.Violation.Summary())
	case !p.Complete && p.Plans == 1 && p.Bounds.Faults > 0 && !p.calm:
		return fmt.Sprintf("not complete: so far only runs without faults, and not all of them "+
			"(%d of an estimated %.0f), %s", p.Runs, p.Estimate, within)
	case !p.Complete && p.calm:
		within += "; it holds without faults"
		fallthrough
	case !p.Complete:
		return fmt.Sprintf("not complete: %d of an estimated %.0f runs, %s", p.Runs, p.Estimate,
			within)
	case p.Undecided > 0:
		return fmt.Sprintf("not decided: the verdicts on %s, of %s, %s",
			count(p.Undecided, "run", "runs"), count(p.Classes, "class", "classes"), within)
	}
	return fmt.Sprintf("holds: %s of runs, complete, %s", count(p.Classes, "class", "classes"), within)
}

// idle reports whether a process of several has no run to count.
func (p *Proof) idle() bool { return p.Complete && p.Runs == 0 && p.Bounds.Part != (Part{}) }

// count is a number of things, in words.
func count(n int, one, more string) string {
	if n == 1 {
		more = one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Scope says in words what was tried and what was not, one item a line. So it tells what a proof
// does not prove. For a violation it is about the runs with fewer faults. It is empty for a process
// of several that has nothing to do.
func (p *Proof) Scope() string {
	if p.idle() {
		return ""
	}
	lines := []string{"tried: every order in which requests reach the server, in which messages, " +
		"dials and ends of pauses and contexts reach a client, and in which one client's call begins " +
		"and another's ends"}
	not := []string{
		"other scripts, payloads, pauses and random numbers than those of seed %d",
		"faults",
	}
	faults, servers := p.Bounds.Faults, p.Scenario.Script.Servers
	if p.Violation != nil {
		faults = len(p.Violation.Scenario.Plan) - 1
	}
	if faults > 0 {
		lines = append(lines,
			"tried: each of "+kinds(func(k fault.KindInfo) bool { return !k.Lasts })+", at every request",
			"tried: each of "+kinds(func(k fault.KindInfo) bool { return !k.Lasts && k.OnEvent })+
				", at every notification",
			"tried: the end of a session at each instant with a message, the end of a dial or of a "+
				"pause, or the begin or end of a call")
		not[1] = "kinds of faults that are not named above"
		not = append(not, "faults of handshakes, of pings and of idle connections, and faults in runs "+
			"with real delays, at what runs without delays never reach")
	}
	if faults > 0 && len(p.Bounds.Lasting) > 0 {
		long := textOf(p.Bounds.Lasting)
		lines = append(lines,
			"tried: each of "+kinds(func(k fault.KindInfo) bool { return k.Lasts })+
				", at every request, for "+long,
			"tried: each of "+kinds(func(k fault.KindInfo) bool { return k.Lasts && k.OnEvent })+
				", at every notification, for "+long)
		not[1] += ", and lengths that are not"
	}
	if servers > 1 {
		lines = append(lines, fmt.Sprintf("tried: every order in which %d servers apply changes", servers))
		not = append(not, "other servers of the clients than those of this seed, faults of servers, and "+
			"servers that are behind while time passes")
	} else {
		not = append(not, "several servers")
	}
	if servers <= 1 && faults > 0 {
		lines = append(lines, "tried: with a fault, only these calls in both orders: locks and other "+
			"holds, barriers, answers from memory, calls after a lost connection")
		not = append(not, "with a fault, both orders of other calls")
	}
	lines = append(lines, "tried: each plan as in a hunt, too, in which messages and pauses take their "+
		"time")
	switch {
	case !p.Counts:
		lines = append(lines, "hidden, because HideCounts promises that the code does not read them: "+
			"Stat.NumChildren, Cversion and Pzxid in replies that list no children")
	case p.Bounds.HideCounts:
		lines = append(lines, "not hidden, because the code reads them: counts of children in stats")
	}
	not[0] = fmt.Sprintf(not[0], p.Scenario.Seed)
	not = append(not, "other orders of the zxids of writes that commute, of the ids of sessions, and "+
		"of the names in a list of children",
		"whether the server applies a request before or after another client's unrelated call begins "+
			"or ends",
		fmt.Sprintf("timers that end, and clocks that go on, while a message is under way or within a "+
			"pause (pauses and contexts of the script below %[1]v take no time, and end in every order; "+
			"a client's pauses add up to at most %[1]v ahead of a message on its way)", sim.Lateness),
		"other orders of timers, pauses and sessions that end at once, of the goroutines of one client, "+
			"and after the end of all scripts")
	if !p.Complete && (p.Violation == nil || !p.fewest) {
		for i := range lines {
			lines[i] = strings.Replace(lines[i], "tried: ", "to be tried, not finished: ", 1)
		}
	}
	return strings.Join(append(lines, "not tried, so not proved:"), "\n") + "\n  " +
		strings.Join(not, "\n  ")
}

// kinds are the kinds of faults of one server that match.
func kinds(match func(fault.KindInfo) bool) string {
	var kinds []string
	for _, k := range fault.KindsFor(1) {
		if match(k) {
			kinds = append(kinds, string(k.Kind))
		}
	}
	return strings.Join(kinds, ", ")
}

func textOf(list []time.Duration) string {
	var words []string
	for _, d := range list {
		words = append(words, d.String())
	}
	return strings.Join(words, ", ")
}

// CheckJudged is [Sweep.CheckJudged] for the runs of a proof. A process of several may have none.
func (p *Proof) CheckJudged() error {
	if p.Classes == 0 && p.Bounds.Part != (Part{}) {
		return nil
	}
	return p.seen.check(p.Scenario.Workload, p.Classes)
}
