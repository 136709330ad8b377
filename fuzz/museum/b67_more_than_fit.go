package museum

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func moreThanFit() Exhibit {
	return Exhibit{
		ID: "B67", Title: "counted, and then offered",
		Report: "https://github.com/Netflix/curator/issues/173",
		Bug: "A queue with a bound: who offers counts the elements, and adds one if there is room. Two who count at the same " +
			"time find the same room, and both use it.",
		Property: scenario.InvariantProperty,
		Wrong: boundedOf(func(c *zk.Conn, offer func() error) error {
			return offer() // wrong: others may, too
		}),
		Right: boundedOf(func(c *zk.Conn, offer func() error) error {
			l := newNaked(c, lockDir)
			if err := l.Lock(context.Background()); err != nil {
				return err
			}
			defer func() { _ = l.leave() }()
			return offer()
		}),
	}
}

// bound is how many elements a bounded queue has room for.
const bound = 2

// boundedOf is a workload of a bounded queue to which everybody offers; alone does so
// while nobody else does.
func boundedOf(alone func(c *zk.Conn, offer func() error) error) scenario.Workload {
	w := beside(lineOf(nil), queueDir, lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		q := newLine(p.Conn(), nil)
		for round := range s.Rounds {
			_ = p.Do(ops.Offer, fmt.Sprintf("%s%d", p.Name(), round), func(context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, alone(p.Conn(), q.offerIfRoom)
			})
			p.Hold(scenario.At("hold", round), nil)
		}
	}
	return judgedBy(w, fmt.Sprintf("there are %d elements at most", bound), moreThanBound)
}

func (q *line) offerIfRoom() error {
	names, _, err := q.conn.Children(queueDir)
	if err != nil || len(names) >= bound {
		return err
	}
	return q.addOnce(nil)
}

// moreThanBound says which element was one too many; nobody takes any.
func moreThanBound(e scenario.Evidence) error {
	elements := 0
	for _, ev := range e.History.Server {
		if !strings.HasPrefix(ev.Path, queueDir+"/") || ev.Kind != linearizability.NodeCreated {
			continue
		}
		if elements++; elements > bound {
			return fmt.Errorf("%s at step %d makes %d", ev.Path, ev.Step, elements)
		}
	}
	return nil
}
