package hunt

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
)

// coverage keeps the scenarios of all strategies that have shown new behaviour, and proposes
// variations of them.
type coverage struct {
	space planSpace
	dice  *rand.Rand
	kept  []keptRun
}

func newCoverage(t strategyInput) strategy {
	return &coverage{
		space: newPlanSpace(t.base, t.maxFaults), dice: dice(t.seed, "coverage"),
		kept: []keptRun{keep(t.base)},
	}
}

// maxKept bounds the number of kept scenarios. The newest stay: they have shown the rarest
// behaviours.
const maxKept = 1000

func (c *coverage) learn(o *scenario.Outcome, _ bool, fresh int) {
	if fresh == 0 {
		return
	}
	c.kept = append(c.kept, keep(o))
	if len(c.kept) > maxKept {
		c.kept = c.kept[1:]
	}
}

func (c *coverage) propose() (scenario.Scenario, bool) {
	kept := c.kept[c.pick()]
	s := kept.Scenario
	s.Plan = slices.Clone(s.Plan)
	if len(s.Plan) < c.space.maxFaults {
		switch way := c.dice.IntN(4); {
		case way == 0 && len(kept.pauses) > 0:
			s.Plan = distinct(append(s.Plan, kept.inPause(c.dice)))
			return s, true
		case way == 1 && len(kept.wake) > 0:
			s.Plan = distinct(append(s.Plan, kept.randomFault(c.dice)))
			return s, true
		}
	}
	for range 1 + c.dice.IntN(3) {
		c.mutate(&s)
	}
	s.Plan = distinct(s.Plan)
	return s, true
}

// pick favours the scenarios that were kept last.
func (c *coverage) pick() int {
	n := len(c.kept)
	return n - 1 - min(c.dice.IntN(n), c.dice.IntN(n))
}

func (c *coverage) drawn() []fault.Fault { return c.space.plan(c.dice.IntN) }

// fault draws a fault that strikes a client of s. s may have fewer clients than the script of the
// hunt: the strategy orders makes such scenarios.
func (c *coverage) fault(s *scenario.Scenario) fault.Fault {
	f := c.drawn()[0]
	names := s.Script.ClientNames()
	f.Client = names[slices.Index(c.space.clients, f.Client)%len(names)]
	return f
}

// mutate changes one thing.
func (c *coverage) mutate(s *scenario.Scenario) {
	if len(s.Plan) == 0 {
		s.Plan = []fault.Fault{c.fault(s)}
		return
	}
	i := c.dice.IntN(len(s.Plan))
	f := s.Plan[i]
	switch c.dice.IntN(6) {
	case 0:
		s.Seed = c.dice.Uint64()
		return
	case 1:
		if len(s.Plan) < c.space.maxFaults {
			s.Plan = append(s.Plan, c.fault(s))
		}
		return
	case 2:
		if len(s.Plan) > 1 {
			s.Plan = slices.Delete(s.Plan, i, i+1)
		}
		return
	case 3:
		c.shift(&f)
	case 4:
		other := c.drawn()[0]
		f.Kind, f.For = other.Kind, other.For
	case 5:
		if f.For > 0 {
			f.For = c.scale(f.For)
		} else {
			f.Client = c.space.clients[c.dice.IntN(len(c.space.clients))]
		}
	}
	if f.Validate() == nil && slices.Contains(s.Script.ClientNames(), f.Client) {
		s.Plan[i] = f
	}
}

// scale makes a length up to twice as long, or up to four times shorter, but no longer than drawn
// lengths: otherwise a hunt would double some of them again and again.
func (c *coverage) scale(d time.Duration) time.Duration {
	longest := max(d, longestFault) // a corpus may have longer ones
	d = (d * time.Duration(1+c.dice.IntN(8)) / 4).Round(10 * time.Millisecond)
	return min(max(d, 10*time.Millisecond), longest)
}

// shift moves a fault to a place nearby.
func (c *coverage) shift(f *fault.Fault) {
	by := 1 + c.dice.IntN(3)
	if c.dice.IntN(2) == 0 {
		by = -by
	}
	switch {
	case f.Request > 0:
		f.Request = max(1, f.Request+by)
	case f.Event > 0:
		f.Event = max(1, f.Event+by)
	default:
		f.At = max(time.Millisecond, f.At+time.Duration(by)*time.Millisecond)
	}
}
