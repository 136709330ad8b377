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
	if part := p.Bounds.Part.String(); part != "" {
		within += ", shard " + part
	}
	switch {
	case p.Violation != nil:
		return fmt.Sprintf("violated in run %d: %s", p.Runs, p.Violation.Summary())
	case !p.Complete && p.Plans == 1 && p.Bounds.Faults > 0 && !p.calm:
		return fmt.Sprintf("not complete: %d of an estimated %.0f runs without a fault, "+
			"none with one, %s", p.Runs, p.Estimate, within)
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

// count is a number of things, in words.
func count(n int, one, more string) string {
	if n == 1 {
		more = one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Scope says in words what was tried and what was not, one item a line. So it tells what a proof
// does not prove. For a violation it is about the runs with fewer faults.
func (p *Proof) Scope() string {
	lines := []string{"tried: every order in which requests reach the server, in which messages, " +
		"dials and ends of pauses and contexts reach a client, and in which one client's call begins " +
		"and another's ends"}
	not := []string{
		"other scripts, payloads, pauses and random numbers than those of seed %d",
		"other faults",
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
		not = append(not, "faults of handshakes, of pings and of idle connections, and faults at what "+
			"comes only when messages and pauses take their time")
	}
	if faults > 0 && len(p.Bounds.Lasting) > 0 {
		long := textOf(p.Bounds.Lasting)
		lines = append(lines,
			"tried: each of "+kinds(func(k fault.KindInfo) bool { return k.Lasts })+
				", at every request, for "+long,
			"tried: each of "+kinds(func(k fault.KindInfo) bool { return k.Lasts && k.OnEvent })+
				", at every notification, for "+long)
		not[1] += ", and other lengths of these"
	}
	if servers > 1 {
		lines = append(lines, fmt.Sprintf("tried: every order in which %d servers apply changes", servers))
		not = append(not, "other servers of the clients than those of this seed, faults of servers, and "+
			"servers that are behind while time passes")
	} else {
		not = append(not, "several servers")
	}
	if servers <= 1 && faults > 0 {
		not = append(not, "with a fault, other orders of the begins and ends of calls of different "+
			"clients, but for those of holds (from lock, acquire, lead, take, poll, enter or join on), of "+
			"barriers, of calls that are answered from memory, and of calls that return after a loss of "+
			"the client's own connection")
	}
	lines = append(lines, "tried: each plan as in a hunt, too, in which messages and pauses take their "+
		"time")
	switch {
	case !p.Counts:
		lines = append(lines, "hidden, as the code is said not to look: Stat.NumChildren, Cversion "+
			"and Pzxid in replies that list no children")
	case p.Bounds.HideCounts:
		lines = append(lines, "not hidden, as the code looks at them: counts of children in stats")
	}
	not[0] = fmt.Sprintf(not[0], p.Scenario.Seed)
	not = append(not, "other orders of the zxids of writes that commute, of the ids of sessions, and "+
		"of the names in a list of children",
		"when the server applies a request, beside the begins and ends of calls of other clients",
		fmt.Sprintf("timers that end, and clocks that go on, while a message is under way or within a "+
			"pause (pauses and contexts of the script below %v take no time, and end in every order; "+
			"together they overtake a message by no more)", sim.Lateness),
		"other orders of timers, pauses and sessions that end at once, of the goroutines of one client, "+
			"and after the end of all scripts")
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
