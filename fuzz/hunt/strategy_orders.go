package hunt

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
)

// orders goes through all orders in which the messages of a tiny script can be delivered, without
// faults. It leaves out orders that differ from a tried one only in messages that commute (sleep
// sets: Godefroid, Partial-Order Methods, 1996). Orders that differ early come first. Orders that
// differ beyond orderDepth, and those beyond maxBranches that wait at a time, are left out.
type orders struct {
	input strategyInput
	open  []branch // to be tried, the next first
	tried []branch // proposed, without an outcome yet
	left  bool     // some were left out
	known map[string]*trace.Delivery
}

// A branch is a way through the first decisions of a run. The last decision is a new one. A branch
// takes little memory, because many wait for their turn.
type branch struct {
	way    []int             // of a run; several branches share it
	at     int               // the decision at which the branch leaves it
	next   int               // the other choice there
	asleep []*trace.Delivery // messages that were tried in its place already
}

// numbers are the decisions of the branch.
func (b branch) numbers() []int {
	if b.way == nil {
		return nil
	}
	return append(slices.Clone(b.way[:b.at]), b.next)
}

const (
	orderDepth  = 60     // decisions that are varied
	maxBranches = 20_000 // that wait to be tried
)

func newOrders(t strategyInput) strategy {
	return &orders{input: t, open: []branch{{}}, known: map[string]*trace.Delivery{}}
}

func (o *orders) propose() (scenario.Scenario, bool) {
	if len(o.open) == 0 {
		return scenario.Scenario{}, false
	}
	b := o.open[0]
	o.open = o.open[1:]
	o.tried = append(o.tried, b)
	s := o.input.plain()
	s.Script.Clients, s.Script.Rounds = min(2, s.Script.Clients), 1
	s.Schedule = sim.Schedule{Kind: sim.Choices, Numbers: b.numbers()}
	return s, true
}

// learn finds the branches that the run has not taken.
func (o *orders) learn(outcome *scenario.Outcome, own bool, _ int) {
	if !own {
		return
	}
	b := o.tried[0]
	o.tried = o.tried[1:]
	decisions := outcome.Result.Decisions
	way := make([]int, 0, orderDepth)
	for _, d := range decisions[:min(orderDepth, len(decisions))] {
		way = append(way, d.Picked)
	}
	asleep := b.asleep
	for i := len(outcome.Scenario.Schedule.Numbers); i < len(decisions); i++ {
		if i == orderDepth {
			o.left = true
			return
		}
		d := decisions[i]
		picked := o.intern(d.Candidates[d.Picked])
		redundant := isAsleep(asleep, picked)
		passed := slices.Clone(asleep)
		if !redundant {
			passed = append(passed, picked)
		}
		for n, candidate := range d.Candidates {
			if n == d.Picked {
				continue
			}
			c := o.intern(candidate)
			if isAsleep(asleep, c) {
				continue
			}
			o.add(branch{way, i, n, awake(passed, c)})
			passed = append(passed, c)
		}
		if redundant {
			return // the rest was tried after another order of the same
		}
		asleep = awake(asleep, picked)
	}
}

func (o *orders) add(b branch) {
	if len(o.open) >= maxBranches {
		o.left = true
		return
	}
	o.open = append(o.open, b)
}

func (o *orders) leftOut() bool { return o.left }

// intern returns the one kept copy of a message: run after run has the same messages.
func (o *orders) intern(d trace.Delivery) *trace.Delivery {
	key := fmt.Sprintf("%#v", d)
	known := o.known[key]
	if known == nil {
		known = &d
		o.known[key] = known
	}
	return known
}

func isAsleep(asleep []*trace.Delivery, d *trace.Delivery) bool {
	return slices.ContainsFunc(asleep, func(a *trace.Delivery) bool { return a.Same(*d) })
}

// awake leaves out the messages that do not commute with the delivery of d.
func awake(asleep []*trace.Delivery, d *trace.Delivery) []*trace.Delivery {
	var left []*trace.Delivery
	for _, a := range asleep {
		if a.Commutes(*d) {
			left = append(left, a)
		}
	}
	return left
}
