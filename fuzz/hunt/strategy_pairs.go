package hunt

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
)

// pairs tries two faults at once: all pairs of a small workload, otherwise pairs at random. A fault
// causes retries, which the run without faults does not have. Therefore every other proposal is
// from one of four lists, in turns, of which the last has more in a hunt on several servers. One of
// eight is from afterAnswers, two on several servers:
//
//   - The retry of a request that a first fault has lost: a second one loses it again, or begins an
//     outage, for less than a session and for more.
//   - Other requests in the wake of a single fault, once for each two operations, kinds and places.
//   - Faults at times that a run tells, some of them single; see inHolds, inPauses, inWindow. What
//     untilChange makes of their runs comes at once, as do the few plans of beforeEnds.
//   - With several servers, plans of three faults; see deposings.
type pairs struct {
	input   strategyInput
	points  []fault.Fault
	order   *scattered // nil: at random
	dice    *rand.Rand
	retries []scenario.Scenario // second faults at the retry of what the first has lost
	deposed fairly              // reads from a leader that was deposed
	windows []scenario.Scenario // faults at a time that a run tells
	changes []scenario.Scenario // pauses that end after a session's end or another client's change
	answers fairly              // calls just after the answer to another client's call
	behind  []scenario.Scenario // second faults behind single ones
	tried   map[string]bool     // the names of what was in a list
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
	p.learnMoments(t.base)
	return p
}

// learnMoments finds plans whose moments a run tells. Of a running ensemble no two runs have the
// same, and it has no pauses.
func (p *pairs) learnMoments(o *scenario.Outcome) {
	if o.Scenario.On == nil {
		p.learnDeposings(o)
		p.learnTimes(o)
		p.learnAnswers(o)
	}
}

// learn finds the places for a second fault.
func (p *pairs) learn(o *scenario.Outcome, _ bool, _ int) {
	p.learnMoments(o)
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
}

// learnTimes finds plans whose times a run tells.
func (p *pairs) learnTimes(o *scenario.Outcome) {
	s := o.Scenario
	if s.Schedule.Kind != sim.Latencies || len(o.Result.Strikes) != len(s.Plan) {
		return
	}
	if len(s.Plan) == 0 {
		for _, t := range slices.Concat(inHolds(o), inPauses(o)) {
			p.addPlan(&p.windows, t.name, t.Scenario)
		}
		return
	}
	first := o.Result.Strikes[0]
	if len(s.Plan) == 1 {
		for _, f := range inWindow(o) {
			p.add(&p.windows, fmt.Sprint("window ", first.Fault.For, " ", windowName(o, first), " ",
				f.op), s, f.Fault)
		}
	}
	const alike = 3 // the same plan may be in vain with one seed, where nobody comes next
	for _, t := range beforeEnds(o) {
		for n := range alike {
			if name := fmt.Sprint(t.name, " ", n); !p.tried[name] {
				p.addPlan(&p.changes, name, t.Scenario)
				break
			}
		}
	}
	s.Plan = untilChange(o)
	if s.Plan == nil || len(s.Plan) > 2 {
		return
	}
	name := "until change " + windowName(o, first)
	if len(s.Plan) > 1 {
		name = fmt.Sprint("until change ", s.Plan[0].Client, s.Plan[0].Request, s.Plan[1])
	}
	p.addPlan(&p.changes, name, s)
}

// learnAnswers keeps some plans of a run in which a client calls right after another one's answer.
func (p *pairs) learnAnswers(o *scenario.Outcome) {
	const each, most = 2, 3 // plans of a name, faults of a plan
	const enough = 16       // plans that wait
	if o.Scenario.Schedule.Kind != sim.Latencies || p.input.maxFaults < most ||
		p.answers.count() >= enough {
		return
	}
	plans := afterAnswers(o)
	p.dice.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
	added := map[string]int{}
	for _, t := range plans {
		if added[t.name]++; added[t.name] <= each {
			p.answers.add(t)
		}
	}
}

// fairly are plans of which those come first whose name has come most rarely. A few of each name
// wait: the same plan may be in vain with one seed, where a client is at another server.
type fairly struct {
	names   []string
	waiting map[string][]scenario.Scenario
	taken   map[string]int
}

func (f *fairly) add(t timed) {
	const most = 4
	if f.waiting == nil {
		f.waiting, f.taken = map[string][]scenario.Scenario{}, map[string]int{}
	}
	waiting, known := f.waiting[t.name]
	if !known {
		f.names = append(f.names, t.name)
	}
	if len(waiting) < most {
		f.waiting[t.name] = append(waiting, t.Scenario)
	}
}

// count is the number of plans that wait.
func (f *fairly) count() (n int) {
	for _, list := range f.waiting {
		n += len(list)
	}
	return n
}

func (f *fairly) next() (scenario.Scenario, bool) {
	rarest := ""
	for _, name := range f.names {
		if len(f.waiting[name]) > 0 && (rarest == "" || f.taken[name] < f.taken[rarest]) {
			rarest = name
		}
	}
	list := f.waiting[rarest]
	s, more := next(&list)
	if more {
		f.waiting[rarest] = list
		f.taken[rarest]++
	}
	return s, more
}

// windowName is what faults have in common that strike at the same place of the code.
func windowName(o *scenario.Outcome, s trace.Strike) string {
	return fmt.Sprint(s.Fault.Kind, " ", s.Op, " ", path.Dir(s.Path), " ",
		callAt(o, s.Client, s.Step))
}

// learnDeposings keeps the plans of a run by which a leader is deposed.
func (p *pairs) learnDeposings(o *scenario.Outcome) {
	const faults = 3
	if p.input.maxFaults < faults {
		return
	}
	for _, d := range deposings(o) {
		p.deposed.add(d)
	}
}

// add adds a second fault to a list unless there was one of the same name.
func (p *pairs) add(list *[]scenario.Scenario, name string, s scenario.Scenario, f fault.Fault) {
	s.Plan = []fault.Fault{s.Plan[0], f}
	p.addPlan(list, name, s)
}

// addPlan adds a scenario to a list unless there was one of the same name.
func (p *pairs) addPlan(list *[]scenario.Scenario, name string, s scenario.Scenario) {
	if !p.tried[name] {
		p.tried[name] = true
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
	if s, more := next(&p.changes); more {
		return s, true
	}
	several := p.input.base.Scenario.Script.Servers > 1
	p.turn++
	switch {
	case p.turn%8 == 3 || several && p.turn%8 == 7:
		if s, more := p.answers.next(); more {
			return s, true
		}
	case p.turn%2 == 1:
		if s, more := p.atOnce(); more {
			return s, true
		}
	}
	from := func(list *[]scenario.Scenario) func() (scenario.Scenario, bool) {
		return func() (scenario.Scenario, bool) { return next(list) }
	}
	lists := []func() (scenario.Scenario, bool){
		from(&p.windows), from(&p.retries), p.deposed.next, from(&p.behind),
	}
	if several {
		lists = append(lists, p.deposed.next, p.deposed.next)
	}
	for i := range lists {
		if s, more := lists[(p.turn/2+i)%len(lists)](); more {
			return s, true
		}
	}
	return p.atOnce()
}

// next takes the first scenario of a list.
func next(list *[]scenario.Scenario) (s scenario.Scenario, more bool) {
	if len(*list) == 0 {
		return s, false
	}
	s = (*list)[0]
	*list = (*list)[1:]
	return s, true
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
