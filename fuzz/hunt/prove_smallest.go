package hunt

import (
	"context"
	"fmt"

	"github.com/zksim/zksim/fuzz/scenario"
)

// Smallest says in a sentence that an outcome has as few faults as possible, "" if that is not
// known, and in words what was tried for that, if anything. The outcome is Violation or what
// [Minimize] has made of it. Of one with faults it is known if all runs with fewer faults were
// tried and none violates anything. If the outcome has another script or seed than the proof, or
// another number of faults than Violation, a second proof within the same bounds tries these runs.
func (p *Proof) Smallest(ctx context.Context, o *scenario.Outcome) (says, scope string) {
	s := o.Scenario
	if len(s.Plan) == 0 {
		return "it needs no fault", ""
	}
	by := p
	if len(s.Plan) != len(p.Violation.Scenario.Plan) || s.Seed != p.Scenario.Seed ||
		plain(s.Script) != plain(p.Scenario.Script) {
		within := p.Bounds
		if within.Faults = len(s.Plan) - 1; within.Faults == 0 {
			within.Lasting = nil
		}
		// It is another proof, of all plans.
		within.Part, within.Resume, within.Work, within.Progress = Part{}, "", "", nil
		second, err := Prove(ctx, s, within)
		if err != nil {
			return "", ""
		}
		by, second.fewest = second, second.Holds()
	}
	if !by.fewest {
		return "", ""
	}
	return "no run with fewer faults violates anything, " + forScript(s.Script),
		"of the runs with fewer faults:\n" + by.Scope().String()
}

// plain is a script with the numbers that 0 stands for.
func plain(s scenario.Script) scenario.Script {
	s.Servers, s.Goroutines = max(1, s.Servers), max(1, s.Goroutines)
	return s
}

// forScript says for which script a result is.
func forScript(s scenario.Script) string {
	text := fmt.Sprintf("for %s, %s", count(s.Clients, "client", "clients"),
		count(s.Rounds, "round", "rounds"))
	if s.Servers > 1 {
		text += fmt.Sprintf(", %d servers", s.Servers)
	}
	if s.Goroutines > 1 {
		text += fmt.Sprintf(", %d goroutines of each client", s.Goroutines)
	}
	if s.Careless {
		text += ", careless"
	}
	return text
}
