package hunt

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
)

// shrink takes steps that make the scenario smaller, until no step does.
func (m *minimizer) shrink() {
	for before := -1; m.kept != before && !m.done(); {
		before = m.kept
		m.dropFaults()
		m.shortenScript()
		m.smallSeed()
		m.plainSchedule()
		m.simplifyFaults()
	}
}

// dropFaults leaves out faults, from the last.
func (m *minimizer) dropFaults() {
	for i := len(m.best.Scenario.Plan) - 1; i >= 0; i-- {
		s := m.scenario()
		s.Plan = slices.Delete(s.Plan, i, i+1)
		m.try(s)
	}
}

// dropMissed leaves out the faults that match nothing. It does so after a search that was cut off,
// too: nobody can learn anything from such a fault.
func (m *minimizer) dropMissed() {
	for len(m.best.Result.Missed) > 0 {
		o := m.play(withoutMissed(m.best).Scenario)
		if !m.showsBug(o) {
			return
		}
		m.best = o
	}
}

// withoutMissed is an outcome without the faults that match nothing in its run. Those bound to a
// time have a line in the trace: they stay in Result.Missed, so that the story explains the line.
func withoutMissed(o *scenario.Outcome) *scenario.Outcome {
	small, result := *o, *o.Result
	plan := slices.Clone(o.Scenario.Plan)
	small.Scenario.Plan = slices.DeleteFunc(plan, func(f fault.Fault) bool {
		return slices.Contains(o.Result.Missed, f)
	})
	result.Missed = slices.DeleteFunc(slices.Clone(o.Result.Missed), func(f fault.Fault) bool {
		return f.At == 0
	})
	small.Result = &result
	return &small
}

// shortenScript tries fewer clients, goroutines and rounds, the fewest first, and a script that is
// not careless, and one server. Clients that the plan names get earlier names.
func (m *minimizer) shortenScript() {
	if s := m.scenario(); s.Script.Careless {
		s.Script.Careless = false
		m.try(s)
	}
	if s := m.scenario(); s.Script.Servers > 1 && !slices.ContainsFunc(s.Plan, needsEnsemble) {
		s.Script.Servers = 1
		m.try(s)
	}
	m.firstNumber(m.best.Scenario.Script.Goroutines-1, func(s *scenario.Scenario, n int) {
		s.Script.Goroutines = n
	})
	for n := 1; n < m.best.Scenario.Script.Clients; n++ {
		if m.tryClients(n) {
			break
		}
	}
	m.firstNumber(m.best.Scenario.Script.Rounds-1, func(s *scenario.Scenario, n int) {
		s.Script.Rounds = n
	})
}

// firstNumber tries the numbers from 1 to most: set puts one of them into the scenario.
func (m *minimizer) firstNumber(most int, set func(s *scenario.Scenario, n int)) bool {
	var candidates []scenario.Scenario
	for n := 1; n <= most; n++ {
		s := m.scenario()
		set(&s, n)
		candidates = append(candidates, s)
	}
	return m.first(candidates)
}

// tryClients tries n clients, with the faults of the plan as they are if these clients have them
// all, otherwise with the first clients in the places of the others.
func (m *minimizer) tryClients(n int) bool {
	s := m.scenario()
	s.Script.Clients = n
	names := s.Script.ClientNames()
	renamed := map[string]string{}
	for i, f := range s.Plan {
		if f.Client == "" || slices.Contains(names, f.Client) {
			continue
		}
		to, ok := renamed[f.Client]
		if !ok {
			if len(renamed) == n {
				return false
			}
			to = names[len(renamed)]
			renamed[f.Client] = to
		}
		s.Plan[i].Client = to
	}
	return m.tryEarlier(s)
}

// tryEarlier tries a scenario. If it has a single fault at a request, it also tries that fault at
// every other request: with fewer clients the same step of the protocol often has another number.
func (m *minimizer) tryEarlier(s scenario.Scenario) bool {
	candidates := []scenario.Scenario{s}
	if len(s.Plan) == 1 && s.Plan[0].Request > 0 {
		for n := 1; n <= m.requestsOf("")+earlierMargin; n++ {
			s.Plan = slices.Clone(s.Plan)
			s.Plan[0].Request = n
			candidates = append(candidates, s)
		}
	}
	return m.first(candidates)
}

// earlierMargin is the number of requests that a client may make more than before, because it does
// the work of others now: for instance, it creates the parent.
const earlierMargin = 5

// smallSeeds is the greatest seed that counts as small.
const smallSeeds = 20

// smallSeed looks for a small seed that shows the same.
func (m *minimizer) smallSeed() {
	most := int(min(smallSeeds, max(1, m.best.Scenario.Seed)-1))
	m.firstNumber(most, func(s *scenario.Scenario, n int) { s.Seed = uint64(n) })
}

// plainSchedule tries the scenario without its schedule, or with fewer numbers in it.
func (m *minimizer) plainSchedule() {
	if m.best.Scenario.Schedule.Kind == sim.Latencies {
		return
	}
	if m.firstNumber(smallSeeds, func(s *scenario.Scenario, n int) {
		s.Schedule, s.Seed = sim.Schedule{}, uint64(n)
	}) {
		return
	}
	for i := len(m.best.Scenario.Schedule.Numbers) - 1; i >= 0; i-- {
		s := m.scenario()
		numbers := slices.Clone(s.Schedule.Numbers)
		switch {
		case s.Schedule.Kind == sim.Priorities || i == len(numbers)-1:
			s.Schedule.Numbers = slices.Delete(numbers, i, i+1)
		case numbers[i] > 0:
			numbers[i] = 0
			s.Schedule.Numbers = numbers
		default:
			continue
		}
		m.try(s)
	}
}

// simplifyFaults tries, for each fault, a weaker kind, a request as its coordinate, an earlier
// request, and a shorter, rounder duration.
func (m *minimizer) simplifyFaults() {
	for i := range m.best.Scenario.Plan {
		m.simplifyKind(i)
		m.lowerCoordinate(i)
		m.shortenDuration(i)
	}
}

// firstFault tries other faults in the place of the i-th. Faults that are not valid are left out.
func (m *minimizer) firstFault(i int, faults []fault.Fault) bool {
	var candidates []scenario.Scenario
	for _, f := range faults {
		if f.Validate() == nil {
			s := m.scenario()
			s.Plan[i] = f
			candidates = append(candidates, s)
		}
	}
	return m.first(candidates)
}

func (m *minimizer) simplifyKind(i int) {
	var faults []fault.Fault
	for _, kind := range fault.Weakest() {
		f := m.best.Scenario.Plan[i]
		if f.Kind == kind {
			break
		}
		info, _ := kind.Info()
		if f.Kind, f.Code = kind, ""; !info.Lasts {
			f.For = 0
		}
		faults = append(faults, f)
	}
	m.firstFault(i, faults)
}

func needsEnsemble(f fault.Fault) bool { return f.Kind.NeedsEnsemble() }

func (m *minimizer) lowerCoordinate(i int) {
	f := m.best.Scenario.Plan[i]
	highest := f.Request
	if f.At > 0 || f.Event > 0 {
		highest = m.requestsOf(f.Client) + 2
	}
	var faults []fault.Fault
	for n := 1; n < highest; n++ {
		c := f
		c.Request, c.Event, c.At = n, 0, 0
		faults = append(faults, c)
	}
	for n := 1; n < f.Event; n++ {
		c := f
		c.Event = n
		faults = append(faults, c)
	}
	if !m.firstFault(i, faults) && f.At > 0 {
		m.roundTime(i)
	}
}

// roundTime tries a time with fewer digits that is not later than the present one.
func (m *minimizer) roundTime(i int) {
	f := m.best.Scenario.Plan[i]
	var faults []fault.Fault
	for _, unit := range []time.Duration{
		time.Second, 100 * time.Millisecond, 10 * time.Millisecond, 5 * time.Millisecond,
	} {
		if f.At%unit == 0 {
			break // it is as round already
		}
		for at := max(unit, (f.At - 20*unit).Truncate(unit)); at < f.At; at += unit {
			c := f
			c.At = at
			faults = append(faults, c)
		}
	}
	m.firstFault(i, faults)
}

func (m *minimizer) requestsOf(client string) int {
	n := 0
	for _, r := range m.best.Result.Requests {
		if client == "" || r.Client == client {
			n = max(n, r.Number)
		}
	}
	return n
}

func (m *minimizer) shortenDuration(i int) {
	var faults []fault.Fault
	for _, d := range []time.Duration{
		10 * time.Millisecond, 100 * time.Millisecond,
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
	} {
		f := m.best.Scenario.Plan[i]
		if f.For <= d {
			break
		}
		f.For = d
		faults = append(faults, f)
	}
	m.firstFault(i, faults)
}

// nameOperations replaces "the client's 5th request" by "its first getData",
// which survives changes of code better and reads better.
func (m *minimizer) nameOperations() {
	for i, f := range m.best.Scenario.Plan {
		if f.Request == 0 || f.Op != "" || f.Client == "" {
			continue
		}
		op, nth := m.operation(f)
		if op == "" {
			continue
		}
		s := m.scenario()
		s.Plan[i].Op, s.Plan[i].Request = op, nth
		m.try(s)
	}
}

// operation is the operation at a request coordinate, and its number among the client's operations
// of that name.
func (m *minimizer) operation(f fault.Fault) (string, int) {
	for _, r := range m.best.Result.Requests {
		if r.Client != f.Client || r.Number != f.Request {
			continue
		}
		nth := 0
		for _, q := range m.best.Result.Requests {
			if q.Client == f.Client && q.Op == r.Op && q.Number <= r.Number {
				nth++
			}
		}
		return r.Op, nth
	}
	return "", 0
}
