package museum

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func wakesAllTakers() Exhibit {
	return Exhibit{
		ID: "S0-18", Title: "one element wakes all consumers",
		Report: "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Queues",
		Bug: "Whoever finds the queue empty watches its directory. One element that is offered wakes all who wait, though one " +
			"of them can have it; the others look, find nothing, and watch again.",
		Property: scenario.InvariantProperty,
		Wrong:    waitingTakers(func(q *line, _ *naked) object.Queuer { return q }), // wrong: all of them watch
		Right:    waitingTakers(func(q *line, turn *naked) object.Queuer { return turnTaking{q, turn} }),
	}
}

// turnTaking is a queue of whose consumers one at a time waits for an element.
type turnTaking struct {
	*line
	turn *naked
}

func (q turnTaking) Take(ctx context.Context) (data []byte, err error) {
	if err := q.turn.Lock(ctx); err != nil {
		return nil, err
	}
	data, err = q.line.Take(ctx)
	_ = q.turn.Unlock(ctx) // it goes with the connection
	return data, err
}

// waitingTakers is a workload of a queue in which the first client offers, with pauses,
// as many elements as the others take.
func waitingTakers(open func(*line, *naked) object.Queuer) scenario.Workload {
	w := beside(lineOf(nil), queueDir, lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		q := open(newLine(p.Conn(), nil), newNaked(p.Conn(), lockDir))
		if p.Index() > 0 {
			for range s.Rounds {
				takeWithin(p, q, time.Minute)
			}
			return
		}
		for n := range s.Rounds * (s.Clients - 1) {
			p.Pause(100 * time.Millisecond)
			offer(p, q, fmt.Sprintf("%s%d", p.Name(), n))
		}
	}
	w.Length = func(s scenario.Script) time.Duration { return time.Duration(s.Rounds) * time.Minute }
	return judgedBy(w, "an element wakes one consumer", wakesSeveral)
}

func offer(p *scenario.Player, q object.Queuer, element string) {
	_ = p.Do(ops.Offer, element, func(ctx context.Context) (linearizability.Result, error) {
		return linearizability.Result{}, q.Offer(ctx, []byte(element))
	})
}

func takeWithin(p *scenario.Player, q object.Queuer, d time.Duration) {
	_ = p.Do(ops.Take, "", func(ctx context.Context) (linearizability.Result, error) {
		ctx, cancel := p.Within(ctx, d)
		defer cancel()
		data, err := q.Take(ctx)
		return linearizability.Result{Output: string(data)}, err
	})
}

// wakesSeveral looks at runs in which nobody has given up: the watch of who has cannot
// be taken back.
func wakesSeveral(e scenario.Evidence) error {
	for _, ev := range e.History.Server {
		offered := ev.Kind == linearizability.NodeCreated && strings.HasPrefix(ev.Path, queueDir+"/")
		if offered && ev.Notified > 1 && !e.GaveUp() {
			return fmt.Errorf("%s wakes %d at step %d", ev.Path, ev.Notified, ev.Step)
		}
	}
	return nil
}
