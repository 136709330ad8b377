package museum

import (
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func leaderByOldPath() Exhibit {
	return Exhibit{
		ID: "B40", Title: "leader by the path of an earlier session",
		Report: "https://github.com/apache/curator/issues/1211",
		Bug: "After a reconnect the latch finds its path first in the list and leads. The node is an earlier session's and is " +
			"removed a moment later, when somebody else is elected: two lead, and nobody tells the first, whose session is well.",
		Property: scenario.InvariantProperty,
		Wrong: longTerms(func(l *naked) {
			l.confirm = func() error { return nil } // wrong: whose node it is is not asked
		}),
		Right:  longTerms(nil),
		Script: scenario.Script{Clients: 2, Rounds: 1},
	}
}

// longTerms is a workload of an election in which each leads for longer than a dead
// session's nodes stay.
func longTerms(replace func(*naked)) scenario.Workload {
	const term = 15 * time.Second
	w := electionOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		c := candidate{remade(p.Conn(), lockDir, replace)}
		for range s.Rounds {
			if p.Persist(func(int) error { return lead(p, c) }) {
				p.Pause(term)
				p.Attempt(3, func(int) error { return resign(p, c) })
			}
		}
	}
	w.Length = func(s scenario.Script) time.Duration { return time.Duration(s.Clients*s.Rounds) * term }
	return judgedBy(w, "one leads at a time", twoLead)
}

func lead(p *scenario.Player, c candidate) error {
	return p.Do(ops.Lead, "", func(ctx context.Context) (linearizability.Result, error) {
		err := c.Lead(ctx)
		return linearizability.Result{Token: c.Token()}, err
	})
}

func resign(p *scenario.Player, c candidate) error {
	return p.Do(ops.Resign, "", func(ctx context.Context) (linearizability.Result, error) {
		return linearizability.Result{}, c.Resign(ctx)
	})
}

// twoLead says who is elected while another leads whose session is alive.
func twoLead(e scenario.Evidence) error {
	return together(e.History, func(op linearizability.Op) bool { return op.Kind == ops.Lead },
		func(op linearizability.Op) bool { return op.Kind == ops.Resign })
}
