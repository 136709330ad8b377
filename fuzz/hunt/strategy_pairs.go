package hunt

import (
	"fmt"
	"math/rand/v2"
	"path"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
)

// pairs tries two faults at once: all pairs of a small workload, otherwise pairs at random. A fault
// causes retries, which the run without faults does not have. Therefore every other proposal has a
// second fault in the wake of a single one that some strategy has tried, once for each two
// operations, kinds and places. The retry of a request that the first fault has lost comes first:
// there the second one loses it again, or begins an outage, for less than a session and for more.
// Then come second faults while a first one lasts, see inWindow. With several servers there are
// plans of three faults before them, see deposings.
type pairs struct {
	input   strategyInput
	points  []fault.Fault
	order   *scattered // nil: at random
	dice    *rand.Rand
	retries []scenario.Scenario // second faults at the retry of what the first has lost
	deposed []scenario.Scenario // reads from a leader that was deposed
	windows []scenario.Scenario // second faults while the first lasts
	behind  []scenario.Scenario // second faults behind single ones
	tried   map[string]bool     // the pairs that were in behind
	turn    int
}

// allPairs is the greatest number of pairs of which all are tried.
const allPairs = 20_000

func newPairs(t strategyInput) strategy {
	p := &pairs{
		input: t, points: FaultPoints(t.base), dice: dice(t.seed, "pairs"),
		tried: map[string]bool{},
	}
	if n := len(p.points); n*(n-1)/2 <= allPairs {
		p.order = newScattered(n*n, t.from)
	}
	p.learnDeposings(t.base)
	return p
}

// learn finds the places for a second fault.
func (p *pairs) learn(o *scenario.Outcome, _ bool, _ int) {
	p.learnDeposings(o)
	if len(o.Scenario.Plan) != 1 || len(o.Result.Strikes) != 1 ||
		o.Scenario.Schedule.Kind != sim.Latencies {
		return
	}
	strike := o.Result.Strikes[0]
	for i, r := range wake(o) {
		faults, list := atRetry[:len(losses)], &p.behind
		if i == 0 && losesMessage(strike.Fault.Kind) {
			faults, list = atRetry, &p.retries
		}
		for _, f := range faults {
			name := fmt.Sprint(strike.Fault.Kind, " ", strike.Op, " ", path.Dir(strike.Path),
				" ", i,
				" ", r.Op, " ", f)
			f.Client, f.Request = r.Client, r.Number
			p.add(list, name, o.Scenario, f)
		}
	}
	for _, f := range inWindow(o) {
		p.add(&p.windows, fmt.Sprint("window ", strike.Fault.Kind, " ", strike.Fault.For, " ",
			strike.Op, " ", path.Dir(strike.Path), " ", f.Kind, " ", f.op), o.Scenario, f.Fault)
	}
}

// learnDeposings keeps the plans of a run by which a leader is deposed, once for each name.
func (p *pairs) learnDeposings(o *scenario.Outcome) {
	const faults = 3
	if p.input.maxFaults < faults {
		return
	}
	for _, d := range deposings(o) {
		if !p.tried[d.name] {
			p.tried[d.name] = true
			p.deposed = append(p.deposed, d.Scenario)
		}
	}
}

// add adds a second fault to a list unless there was one of the same name.
func (p *pairs) add(list *[]scenario.Scenario, name string, s scenario.Scenario, f fault.Fault) {
	if !p.tried[name] {
		p.tried[name] = true
		s.Plan = []fault.Fault{s.Plan[0], f}
		*list = append(*list, s)
	}
}

// losesMessage reports whether a kind loses a request or its reply, and lets the client go on at
// once.
func losesMessage(kind fault.Kind) bool {
	return kind == fault.DropRequest || kind == fault.DropReply || kind == fault.CutMidFrame
}

func (p *pairs) propose() (scenario.Scenario, bool) {
	if p.input.maxFaults < 2 {
		return scenario.Scenario{}, false
	}
	if p.turn++; p.turn%2 == 1 {
		if s, more := p.atOnce(); more {
			return s, true
		}
	}
	for _, list := range []*[]scenario.Scenario{&p.deposed, &p.retries, &p.windows, &p.behind} {
		if len(*list) > 0 {
			s := (*list)[0]
			*list = (*list)[1:]
			return s, true
		}
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
			return p.input.plain(p.points[i], p.points[j]), true
		}
	}
	return scenario.Scenario{}, false
}
