package hunt

import (
	"fmt"
	"slices"
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
		return fmt.Sprintf("violated in run %d: %s", max(1, p.Runs), p.Violation.Summary())
	case !p.Complete && p.Plans == 1 && p.Bounds.Faults > 0 && !p.calm:
		return fmt.Sprintf("not complete: so far only runs without faults, and not all of them "+
			"(%d of an estimated %.0f), %s", p.Runs, p.Estimate, within)
	case !p.Complete && p.calm:
		within += fmt.Sprintf("; it holds without faults; of %d plans known so far %d were tried to "+
			"their end", p.Plans, p.Tried)
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

// Scope says in words which properties a proof has judged, what it tried, and what it did not try.
// So it says what a proof does not prove. Of a violation it is about the runs with fewer faults.
type Scope struct {
	// Finished says that all of Tried was tried.
	Finished bool     `json:"finished"`
	Judged   Judged   `json:"judged"`
	Tried    []string `json:"tried"`
	// Hidden says what the code is not shown, and why; "" if nothing was to be hidden.
	Hidden   string   `json:"hidden,omitempty"`
	NotTried []string `json:"not_tried"`
}

// Scope is nil for a process of several that has nothing to do, and for a violation without faults.
func (p *Proof) Scope() *Scope {
	if p.idle() || p.Violation != nil && len(p.Violation.Scenario.Plan) == 0 {
		return nil
	}
	own := hasOwnJudge(p.Scenario.Workload)
	first := "every order in which requests of different clients reach the server, as far as a client " +
		"can tell it"
	if own {
		first = "every order in which changes of different clients reach the server, and in which their " +
			"calls begin and end, because the judge is your own"
	}
	s := &Scope{
		Finished: p.Complete || p.Violation != nil && p.fewest,
		Judged:   p.seen.of(p.Scenario.Workload),
		Tried: []string{
			first,
			"every order in which messages, ends of dials, of pauses and of contexts reach a client",
			"every order in which one client's call begins and another's ends",
		},
		NotTried: []string{fmt.Sprintf(
			"other scripts, payloads, pauses and random numbers than those of seed %d", p.Scenario.Seed)},
	}
	tried := func(format string, a ...any) { s.Tried = append(s.Tried, fmt.Sprintf(format, a...)) }
	not := func(list ...string) { s.NotTried = append(s.NotTried, list...) }
	faults, servers := p.Bounds.Faults, p.Scenario.Script.Servers
	if p.Violation != nil {
		faults = len(p.Violation.Scenario.Plan) - 1
	}
	lasting := faults > 0 && len(p.Bounds.Lasting) > 0
	switch {
	case lasting:
		not("kinds of faults that are not named above, and lengths that are not")
	case faults > 0:
		not("kinds of faults that are not named above")
	default:
		not("faults")
	}
	if faults > 0 {
		tried("each of %s, at every request",
			kinds(func(k fault.KindInfo) bool { return !k.Lasts }))
		tried("each of %s, at every notification",
			kinds(func(k fault.KindInfo) bool { return !k.Lasts && k.OnEvent }))
		tried("the end of a session at each instant with a message, the end of a dial or of a pause, " +
			"or the begin or end of a call")
		not("faults of handshakes, of pings and of idle connections",
			"faults at what only runs with delays reach")
	}
	if lasting {
		long := textOf(p.Bounds.Lasting)
		tried("each of %s, at every request, for %s",
			kinds(func(k fault.KindInfo) bool { return k.Lasts }), long)
		tried("each of %s, at every notification, for %s",
			kinds(func(k fault.KindInfo) bool { return k.Lasts && k.OnEvent }), long)
	}
	if servers > 1 {
		tried("every order in which %d servers apply changes", servers)
		not("other servers of the clients than those of this seed", "faults of servers",
			"servers that are behind while time passes")
	} else {
		not("several servers")
	}
	if own {
		not("other orders of the begins of sessions, and of what else happens when a client hears " +
			"that it is connected")
	} else {
		not("other orders of changes that no client can tell apart; two creates below one node come in "+
			"both orders where order is judged",
			"which of two calls begins first, and which ends first, if neither ends before the other begins")
	}
	if servers <= 1 && faults > 0 && !own {
		// Then it is not every order; see Prove.
		s.Tried[2] += ": without a fault all calls; with a fault calls of locks and other holds, of " +
			"barriers, those answered from memory, and those behind a loss of the client's own connection"
		not("with a fault, both orders of other calls")
	}
	tried("each plan of faults with delays, too, once, as in a hunt")
	if !p.Counts {
		s.Hidden = "Stat.NumChildren, Cversion and Pzxid in replies that list no children, because the " +
			"code promises that it does not read them"
	} else if p.Bounds.HideCounts {
		s.Hidden = "nothing, because the code reads the counts of children in stats"
	}
	not("other orders of the zxids of writes that commute, and of the ids of sessions",
		"other orders of the names in a list of children",
		"whether a request reaches the server before or after a call of another client begins or ends; "+
			"tried for "+related(own),
		"timers that end, and clocks that go on, while a message is under way",
		fmt.Sprintf("the lengths of pauses and contexts of the script below %[1]v: they take no time, and "+
			"end in every order, but those of one client at most %[1]v ahead of a message", sim.Lateness),
		"other orders of timers, of pauses and of sessions that end at one instant",
		"other orders of the goroutines of one client", "other orders after the end of all scripts")
	return s
}

// related says for which requests both orders with the calls of other clients are tried.
func related(own bool) string {
	if own {
		return "each change"
	}
	return "the delete of an ephemeral node of another client, and for each change if the call is one of " +
		"a barrier or of a two-phase commit"
}

// Alike reports whether two processes of several have the same to try.
func (s *Scope) Alike(o *Scope) bool {
	return slices.Equal(s.Tried, o.Tried) && s.Hidden == o.Hidden &&
		slices.Equal(s.NotTried, o.NotTried)
}

// String is the scope in lines.
func (s *Scope) String() string {
	lines := []string{s.Judged.String(), "tried:"}
	if !s.Finished {
		lines[1] = "to be tried, not finished:"
	}
	list := func(items []string) {
		for _, item := range items {
			lines = append(lines, "  "+item)
		}
	}
	list(s.Tried)
	if s.Hidden != "" {
		lines = append(lines, "hidden: "+s.Hidden)
	}
	lines = append(lines, "not tried, so not proved:")
	list(s.NotTried)
	return strings.Join(lines, "\n")
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
	goals := p.Scenario.Workload.Sometimes
	missed := slices.DeleteFunc(slices.Clone(goals), func(goal string) bool {
		return p.seen.Reached[goal] > 0
	})
	if len(missed) > 0 && p.Bounds.Part == (Part{}) {
		return fmt.Errorf("the goal %q was reached in none of %s of runs", missed[0],
			count(p.Classes, "class", "classes"))
	}
	return p.seen.check(p.Scenario.Workload, p.Classes)
}
