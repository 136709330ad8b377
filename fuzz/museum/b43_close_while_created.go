package museum

import (
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func closeWhileCreated() Exhibit {
	return Exhibit{
		ID: "B43", Title: "closed while its node is being made",
		Report: "https://github.com/apache/curator/issues/524", See: []string{"CURATOR-18", "Netflix/curator PR 274"},
		Bug: "A latch makes its node in the background. Close deletes the node that is known, and there is none yet. The reply " +
			"comes to a latch that is closed, and the node stays as a candidate that will never lead.",
		Property: linearizability.Orphans,
		Wrong: standAndLeave(func(joined <-chan error, leave func() error) error {
			select {
			case <-joined:
				return leave()
			default:
				return nil // wrong: the node may be under way
			}
		}),
		Right: standAndLeave(func(joined <-chan error, leave func() error) error {
			if err := <-joined; err != nil {
				return err
			}
			return leave()
		}),
	}
}

// standAndLeave is a workload of candidates that stand, in the background, and close
// after some milliseconds.
func standAndLeave(closing func(joined <-chan error, leave func() error) error) scenario.Workload {
	w := electionOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			l := newNaked(p.Conn(), lockDir)
			joined := make(chan error, 1)
			go func() { joined <- l.join() }()
			p.Pause(time.Duration(1+p.Choose(scenario.At("pause", round), 30)) * time.Millisecond)
			_ = p.Do(ops.Resign, "", func(context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, closing(joined, l.leave)
			})
		}
	}
	return w
}
