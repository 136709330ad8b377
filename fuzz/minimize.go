package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk"
)

// Minimize makes a violating scenario as small as it can while the same
// property stays violated: fewer faults, fewer clients, a shorter script, a
// schedule with a small seed, simpler and shorter faults, and coordinates that
// name the operation. It is greedy and deterministic; each step is a run. When
// ctx is done it returns the smallest scenario so far.
func Minimize(ctx context.Context, o *Outcome) (*Outcome, error) {
	m := &minimizer{ctx: ctx, best: o, property: o.Property()}
	if m.property == "" {
		return nil, fmt.Errorf("minimize: nothing is violated")
	}
	if m.fromScratch() {
		m.nameOperations()
		return m.best, m.err
	}
	for before := -1; m.kept != before && m.err == nil && ctx.Err() == nil; {
		before = m.kept
		m.dropFaults()
		m.shortenScript()
		m.smallSeed()
		m.plainSchedule()
		m.simplifyFaults()
	}
	m.nameOperations()
	return m.best, m.err
}

type minimizer struct {
	ctx      context.Context
	best     *Outcome
	property string
	tried    *Outcome // of the last try, nil if there was none
	kept     int      // steps that were an improvement
	err      error
}

// try runs a candidate and keeps it if it violates the same property.
func (m *minimizer) try(s Scenario) bool {
	if m.err != nil || m.ctx.Err() != nil {
		return false
	}
	if len(distinct(s.Plan)) < len(s.Plan) {
		return false
	}
	o, err := s.Run()
	if errors.Is(err, ErrClaims) { // so little is done that nothing can be said
		return false
	}
	if err != nil {
		m.err = err
		return false
	}
	m.tried = o
	if o.Property() != m.property {
		return false
	}
	m.best = o
	m.kept++
	return true
}

// fromScratch looks for a single fault of a script of one round that shows the
// same with one or two clients. Greedy steps alone often end in a plan of two
// faults, the second of which only moves the first to its place; and however a
// violation was found, it ends as the same plan if there is one so simple.
func (m *minimizer) fromScratch() bool {
	for clients := 1; clients <= min(2, m.best.Scenario.Script.Clients); clients++ {
		s := m.best.Scenario
		s.Script = Script{Clients: clients, Rounds: 1, Hands: s.Script.Hands, Rough: s.Script.Rough}
		s.Seed, s.Plan, s.Schedule = 1, nil, fakezk.Schedule{}
		if m.try(s) {
			return true
		}
		if m.err != nil || m.tried == nil {
			return false
		}
		for _, f := range FaultPoints(m.tried) {
			s.Plan = []fakezk.Fault{f}
			if m.try(s) {
				return true
			}
		}
	}
	return false
}

// scenario is a copy of the best so far, free to be changed.
func (m *minimizer) scenario() Scenario {
	s := m.best.Scenario
	s.Plan = slices.Clone(s.Plan)
	return s
}

// dropFaults leaves out faults, from the last.
func (m *minimizer) dropFaults() {
	for i := len(m.best.Scenario.Plan) - 1; i >= 0; i-- {
		s := m.scenario()
		s.Plan = slices.Delete(s.Plan, i, i+1)
		m.try(s)
	}
}

// shortenScript tries fewer clients, hands and rounds, the fewest first, and a
// script that is not rough. Clients that the plan names are given earlier names.
func (m *minimizer) shortenScript() {
	if s := m.scenario(); s.Script.Rough {
		s.Script.Rough = false
		m.try(s)
	}
	for n := 1; n < m.best.Scenario.Script.hands(); n++ {
		s := m.scenario()
		s.Script.Hands = n
		if m.try(s) {
			break
		}
	}
	for n := 1; n < m.best.Scenario.Script.Clients; n++ {
		if m.tryClients(n) {
			break
		}
	}
	for n := 1; n < m.best.Scenario.Script.Rounds; n++ {
		s := m.scenario()
		s.Script.Rounds = n
		if m.try(s) {
			break
		}
	}
}

// tryClients tries n clients, with the plan's faults as they are if they name
// none of those left out, else with the first clients in their place.
func (m *minimizer) tryClients(n int) bool {
	s := m.scenario()
	s.Script.Clients = n
	names := s.Script.clientNames()
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

// tryEarlier tries a scenario, and, if it has a single fault at a request, with
// that fault at every other request: with fewer clients the same step of the
// protocol often has another number.
func (m *minimizer) tryEarlier(s Scenario) bool {
	if m.try(s) {
		return true
	}
	if len(s.Plan) != 1 || s.Plan[0].Request == 0 {
		return false
	}
	for n := 1; n <= m.requestsOf("")+earlierMargin; n++ {
		s.Plan = slices.Clone(s.Plan)
		s.Plan[0].Request = n
		if m.try(s) {
			return true
		}
	}
	return false
}

// earlierMargin is how many requests more than before a client may make when
// it does what others did for it: create the parent, for instance.
const earlierMargin = 5

// smallSeed looks for a small seed that shows the same.
func (m *minimizer) smallSeed() {
	for seed := uint64(1); seed <= 20 && seed < m.best.Scenario.Seed; seed++ {
		s := m.scenario()
		s.Seed = seed
		if m.try(s) {
			return
		}
	}
}

// plainSchedule tries to do without the scenario's schedule, or with fewer of its
// numbers.
func (m *minimizer) plainSchedule() {
	if m.best.Scenario.Schedule.Kind == fakezk.Latencies {
		return
	}
	for seed := uint64(1); seed <= 20; seed++ {
		s := m.scenario()
		if s.Schedule, s.Seed = (fakezk.Schedule{}), seed; m.try(s) {
			return
		}
	}
	for i := len(m.best.Scenario.Schedule.Numbers) - 1; i >= 0; i-- {
		s := m.scenario()
		numbers := slices.Clone(s.Schedule.Numbers)
		switch {
		case s.Schedule.Kind == fakezk.Priorities || i == len(numbers)-1:
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

// simplest lists the kinds from the plainest accident to the rarest.
var simplest = []fakezk.FaultKind{
	fakezk.Cut, fakezk.DropRequest, fakezk.DropReply, fakezk.Delay, fakezk.Stall, fakezk.Expire,
	fakezk.CutMidFrame, fakezk.Refuse, fakezk.StallMidFrame, fakezk.Blackhole, fakezk.LateReap, fakezk.Restart,
}

// simplifyFaults tries, for each fault, a simpler kind, a coordinate that is a
// request, an earlier one, and a shorter, rounder duration.
func (m *minimizer) simplifyFaults() {
	for i := range m.best.Scenario.Plan {
		m.simplifyKind(i)
		m.lowerCoordinate(i)
		m.shortenDuration(i)
	}
}

func (m *minimizer) simplifyKind(i int) {
	for _, kind := range simplest {
		s := m.scenario()
		f := &s.Plan[i]
		if f.Kind == kind {
			return
		}
		if f.Kind = kind; !lasts(kind) {
			f.For = 0
		} else if f.For == 0 {
			continue
		}
		if f.Validate() == nil && m.try(s) {
			return
		}
	}
}

func lasts(kind fakezk.FaultKind) bool {
	for _, info := range fakezk.FaultKinds() {
		if info.Kind == kind {
			return info.Lasts
		}
	}
	return false
}

func (m *minimizer) lowerCoordinate(i int) {
	f := m.best.Scenario.Plan[i]
	highest := f.Request + f.Event
	if f.At > 0 {
		highest = m.requestsOf(f.Client) + 1
	}
	for n := 1; n < highest; n++ {
		s := m.scenario()
		c := &s.Plan[i]
		if f.Event > 0 {
			c.Event = n
		} else {
			c.Request, c.At = n, 0
		}
		if c.Validate() == nil && m.try(s) {
			return
		}
	}
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
	for _, d := range []time.Duration{time.Second, 5 * time.Second, 10 * time.Second} {
		s := m.scenario()
		if s.Plan[i].For <= d {
			return
		}
		s.Plan[i].For = d
		if m.try(s) {
			return
		}
	}
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

// operation is the operation that a request coordinate stands for, and its
// number among the client's operations of that name.
func (m *minimizer) operation(f fakezk.Fault) (string, int) {
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
