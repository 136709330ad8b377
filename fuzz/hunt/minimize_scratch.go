package hunt

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
)

// The bounds of the search from scratch: scripts, seeds of runs without faults and with one, and
// runs with faults.
const (
	scratchClients   = 3
	scratchRounds    = 2
	scratchCalmSeeds = 100
	scratchRareSeeds = 300 // see rareSeed
	scratchSeeds     = 4
	scratchRuns      = 2500
)

// fromScratch looks for a small scenario that shows the same: first without faults, then with one,
// of the smallest script that suffices. Steps down alone often end with two faults, of which one
// only moves the other to its place.
func (m *minimizer) fromScratch() bool {
	scripts := m.smallScripts()
	for _, script := range scripts {
		if m.firstSeed(script, 1, scratchCalmSeeds) {
			return true
		}
	}
	return len(m.best.Scenario.Plan) > 0 &&
		(m.firstPoint(scripts, 1, 1, everyPoint) ||
			m.firstPoint(scripts, 2, scratchSeeds, plainPoints))
}

// firstSeed looks for a run of a script without faults.
func (m *minimizer) firstSeed(script scenario.Script, from, to uint64) bool {
	var calm []scenario.Scenario
	for seed := from; seed <= to; seed++ {
		calm = append(calm, m.plain(script, seed))
	}
	return m.first(calm)
}

// everyPoint are all fault points of a run, and some ends of sessions at times without a call.
func everyPoint(o *scenario.Outcome) []fault.Fault {
	return append(FaultPoints(o), roundTimes(o, fault.Fault{Kind: fault.Expire})...)
}

// plainPoints are the points of everyPoint with faults that do not last, without the rarest.
func plainPoints(o *scenario.Outcome) []fault.Fault {
	return slices.DeleteFunc(everyPoint(o), func(f fault.Fault) bool {
		return f.For > 0 || f.Kind == fault.CutMidFrame
	})
}

// roundTimes are a fault at round times, with each client: often enough for the effects of a
// session's end between two requests.
func roundTimes(o *scenario.Outcome, f fault.Fault) []fault.Fault {
	const unit, times = 5 * time.Millisecond, 20
	var faults []fault.Fault
	for _, f.Client = range o.Scenario.Script.ClientNames() {
		for n := range times {
			f.At = unit * time.Duration(n+1)
			faults = append(faults, f)
		}
	}
	return faults
}

// canonical looks for a rare run without faults, and for scenarios of at most two faults that are
// as small as the result of the steps down, but come first in a fixed order. So different ways down
// end at the same place. The faults are of the kinds of the present faults, or losses.
func (m *minimizer) canonical() {
	if m.best.Scenario.Seed > smallSeeds && m.rareSeed() {
		return
	}
	s := m.best.Scenario
	if s.Schedule.Kind != sim.Latencies {
		return
	}
	switch len(s.Plan) {
	case 0:
	case 1:
		m.firstPoint(m.smallScripts(), 1, scratchSeeds, func(o *scenario.Outcome) []fault.Fault {
			points := pointsOf(o, kindsOf(s.Plan))
			if s.Plan[0].At > 0 {
				points = append(points, roundTimes(o, s.Plan[0])...)
			}
			return points
		})
	default:
		m.firstPair(m.smallScripts(), func(o *scenario.Outcome) []fault.Fault {
			return pointsOf(o, append(kindsOf(s.Plan), losses...))
		})
	}
}

// rareSeed looks for a run without faults with many seeds. If no small seed shows the violation
// without faults, it may still be a race that needs a rare seed and no fault.
func (m *minimizer) rareSeed() bool {
	for _, script := range m.smallScripts() {
		if m.firstSeed(script, scratchCalmSeeds+1, scratchRareSeeds) {
			return true
		}
	}
	return false
}

func kindsOf(plan []fault.Fault) []fault.Kind {
	var kinds []fault.Kind
	for _, f := range plan {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}

// pointsOf are the fault points of a run with some kinds.
func pointsOf(o *scenario.Outcome, kinds []fault.Kind) []fault.Fault {
	return slices.DeleteFunc(FaultPoints(o), func(f fault.Fault) bool {
		return !slices.Contains(kinds, f.Kind)
	})
}

// pointsFunc chooses the faults to try from a run.
type pointsFunc func(*scenario.Outcome) []fault.Fault

// firstPoint looks for a single fault, out of those that points returns for a run without faults,
// in each script, with each of the seeds, until enough was tried.
func (m *minimizer) firstPoint(scripts []scenario.Script, from, to uint64, points pointsFunc) bool {
	tried := 0
	for _, script := range scripts {
		for seed := from; seed <= to; seed++ {
			s := m.plain(script, seed)
			base := m.play(s)
			if m.done() {
				return false
			}
			if base == nil {
				continue
			}
			candidates := plansOf(s, points(base))
			if tried += len(candidates); tried > scratchRuns {
				return false
			}
			if m.first(candidates) {
				return true
			}
		}
	}
	return false
}

// firstPair looks for two faults, the second after the first has struck.
func (m *minimizer) firstPair(scripts []scenario.Script, points pointsFunc) bool {
	tried := 0
	for _, script := range scripts {
		base := m.play(m.plain(script, 1))
		if m.done() {
			return false
		}
		if base == nil {
			continue
		}
		for _, s := range plansOf(base.Scenario, points(base)) {
			struck := m.play(s)
			if m.done() {
				return false
			}
			if struck == nil || len(struck.Result.Strikes) == 0 {
				continue
			}
			candidates := plansOf(s, points(since(struck, struck.Result.Strikes[0].Step)))
			if tried += 1 + len(candidates); tried > scratchRuns {
				return false
			}
			if m.first(candidates) {
				return true
			}
		}
	}
	return false
}

// plansOf are scenarios with one fault more than s, the weakest kinds first. Faults of clients that
// s does not have are left out.
func plansOf(s scenario.Scenario, faults []fault.Fault) []scenario.Scenario {
	weakest := fault.Weakest()
	slices.SortStableFunc(faults, func(a, b fault.Fault) int {
		return slices.Index(weakest, a.Kind) - slices.Index(weakest, b.Kind)
	})
	names := s.Script.ClientNames()
	var scenarios []scenario.Scenario
	for _, f := range faults {
		if f.Client == "" || slices.Contains(names, f.Client) {
			more := s
			more.Plan = append(slices.Clone(s.Plan), f)
			scenarios = append(scenarios, more)
		}
	}
	return scenarios
}

// since is a run without the requests and events that came before a step.
func since(o *scenario.Outcome, step int64) *scenario.Outcome {
	rest, result := *o, *o.Result
	rest.Result = &result
	result.Requests = slices.DeleteFunc(slices.Clone(result.Requests),
		func(r trace.RequestPoint) bool { return r.Step <= step })
	result.Events = slices.DeleteFunc(slices.Clone(result.Events),
		func(e trace.EventPoint) bool { return e.Step <= step })
	return &rest
}

// plain is the scenario of a script without faults, with the plain schedule.
func (m *minimizer) plain(script scenario.Script, seed uint64) scenario.Scenario {
	return scenario.Scenario{Workload: m.best.Scenario.Workload, Script: script, Seed: seed}
}

// smallScripts are the scripts up to the present one, small ones first: those with one goroutine
// that are not careless, and then those as it is.
func (m *minimizer) smallScripts() []scenario.Script {
	given := m.best.Scenario.Script
	var scripts []scenario.Script
	add := func(s scenario.Script) {
		for s.Clients = 1; s.Clients <= min(scratchClients, given.Clients); s.Clients++ {
			for s.Rounds = 1; s.Rounds <= min(scratchRounds, given.Rounds); s.Rounds++ {
				scripts = append(scripts, s)
			}
		}
	}
	add(scenario.Script{})
	if given.Servers > 1 {
		add(scenario.Script{Servers: given.Servers})
	}
	if given.Careless || given.Goroutines > 1 {
		add(given)
	}
	return scripts
}
