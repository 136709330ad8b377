package museum

import (
	"context"
	"fmt"
	"time"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
)

func leaderByOldPath() Exhibit {
	return Exhibit{
		ID: "B40", Title: "leader by the path of an earlier session",
		Report: "https://github.com/apache/curator/issues/1211",
		Bug: "After a reconnect the latch finds its path first in the list and leads. The node is an earlier session's and is " +
			"removed a moment later, when somebody else is elected: two lead, and nobody tells the first, whose session is well.",
		Property: fuzz.InvariantProperty,
		Wrong: longTerms(func(l *naked) {
			l.confirm = func() error { return nil } // wrong: whose node it is is not asked
		}),
		Right:  longTerms(nil),
		Script: fuzz.Script{Clients: 2, Rounds: 1},
	}
}

// longTerms is a workload of an election in which each leads for longer than a dead
// session's nodes stay.
func longTerms(replace func(*naked)) fuzz.Workload {
	const term = 15 * time.Second
	w := electionOf(nil)
	w.Play = func(p *fuzz.Player, s fuzz.Script) {
		c := candidate{remade(p.Conn(), lockDir, replace)}
		for range s.Rounds {
			if p.Persist(func(int) error { return lead(p, c) }) {
				p.Pause(term)
				p.Attempt(3, func(int) error { return resign(p, c) })
			}
		}
	}
	w.Length = func(s fuzz.Script) time.Duration { return time.Duration(s.Clients*s.Rounds) * term }
	return judgedBy(w, "one leads at a time", twoLead)
}

func lead(p *fuzz.Player, c candidate) error {
	return p.Do(linearizability.KindLead, "", func(ctx context.Context) (linearizability.Result, error) {
		err := c.Lead(ctx)
		return linearizability.Result{Token: c.Token()}, err
	})
}

func resign(p *fuzz.Player, c candidate) error {
	return p.Do(linearizability.KindResign, "", func(ctx context.Context) (linearizability.Result, error) {
		return linearizability.Result{}, c.Resign(ctx)
	})
}

// twoLead says who is elected while another leads whose session is alive.
func twoLead(e fuzz.Evidence) error {
	for _, first := range e.History.Ops {
		if first.Kind != linearizability.KindLead || first.Outcome != linearizability.OpOK {
			continue
		}
		end := termEnd(e.History, first)
		for _, second := range e.History.Ops {
			if second.Kind == first.Kind && second.Outcome == first.Outcome && second.Client != first.Client &&
				second.Return > first.Return && second.Return < end {
				return fmt.Errorf("%s leads since step %d, and %s since step %d", first.Client, first.Return, second.Client, second.Return)
			}
		}
	}
	return nil
}

// termEnd is the step at which a leader begins to resign, or its session ends.
func termEnd(h linearizability.History, led linearizability.Op) int64 {
	end := h.End + 1
	for _, op := range h.Ops {
		if op.Kind == linearizability.KindResign && op.Client == led.Client && op.Call > led.Return {
			end = min(end, op.Call)
		}
	}
	for _, ev := range h.Server {
		if ev.Kind == linearizability.SessionEnded && ev.Owner == led.Session {
			end = min(end, ev.Step)
		}
	}
	return end
}
