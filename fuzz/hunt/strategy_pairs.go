package hunt

import (
	"fmt"
	"math/rand/v2"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
)

// pairs tries two faults at once: all pairs of a small workload, otherwise pairs at random. A fault
// causes retries, which the run without faults does not have. Therefore every other proposal has a
// second fault in the wake of a single one that some strategy has tried, once for each two
// operations and kinds.
type pairs struct {
	terrain terrain
	points  []fault.Fault
	order   *scattered // nil: at random
	dice    *rand.Rand
	behind  []scenario.Scenario // second faults behind single ones
	tried   map[string]bool     // the pairs that were in behind
	turn    int
}

// allPairs is the greatest number of pairs of which all are tried.
const allPairs = 20_000

func newPairs(t terrain) strategy {
	p := &pairs{
		terrain: t, points: FaultPoints(t.base), dice: dice(t.seed, "pairs"),
		tried: map[string]bool{},
	}
	if n := len(p.points); n*(n-1)/2 <= allPairs {
		p.order = newScattered(n*n, t.from)
	}
	return p
}

// learn finds the places for a second fault.
func (p *pairs) learn(o *scenario.Outcome, _ bool, _ int) {
	if len(o.Scenario.Plan) != 1 || len(o.Result.Strikes) != 1 ||
		o.Scenario.Schedule.Kind != sim.Latencies {
		return
	}
	strike := o.Result.Strikes[0]
	for i, r := range wake(o) {
		for _, kind := range losses {
			name := fmt.Sprint(strike.Fault.Kind, " ", strike.Op, " ", i, " ", r.Op, " ", kind)
			if !p.tried[name] {
				p.tried[name] = true
				s := o.Scenario
				s.Plan = []fault.Fault{s.Plan[0], {Kind: kind, Client: r.Client, Request: r.Number}}
				p.behind = append(p.behind, s)
			}
		}
	}
}

func (p *pairs) propose() (scenario.Scenario, bool) {
	if p.terrain.maxFaults < 2 {
		return scenario.Scenario{}, false
	}
	if p.turn++; p.turn%2 == 1 {
		if s, more := p.atOnce(); more {
			return s, true
		}
	}
	if len(p.behind) > 0 {
		s := p.behind[0]
		p.behind = p.behind[1:]
		return s, true
	}
	return p.atOnce()
}

// atOnce are two of the points of the run without faults.
func (p *pairs) atOnce() (scenario.Scenario, bool) {
	n := len(p.points)
	for n > 1 {
		i, j := 0, 0
		if p.order == nil {
			i, j = p.dice.IntN(n), p.dice.IntN(n)
		} else {
			k, more := p.order.draw()
			if !more {
				return scenario.Scenario{}, false
			}
			i, j = k/n, k%n
		}
		if i < j {
			return p.terrain.plain(p.points[i], p.points[j]), true
		}
	}
	return scenario.Scenario{}, false
}
