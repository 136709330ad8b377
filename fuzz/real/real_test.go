package real

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// TestRightWorkloadsSurvive: what survives a simulated server's faults survives
// those of a real one.
func TestRightWorkloadsSurvive(t *testing.T) {
	t.Parallel()
	p := startPool(t, *servers)
	right := object.Workloads().Sound()
	var total tally
	each(len(right), func(i int) {
		t.Run(right[i].Name+"/"+right[i].Impl, func(t *testing.T) {
			n := survives(t, p, right[i])
			t.Log(n)
			total.add(n)
		})
	})
	t.Logf("seed %d, %d workloads: %s", *seed, len(right), &total)
}

// survives runs a workload without faults, with some single faults, and with random
// plans.
func survives(t *testing.T, p *pool, w scenario.Workload) *tally {
	t.Helper()
	n := &tally{}
	s := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: *clients, Rounds: *rounds}, Seed: *seed}
	base := n.try(t, p, s)
	if base == nil {
		return n
	}
	list := somePlans(base)
	each(len(list), func(i int) {
		s := s
		s.Plan = list[i]
		n.try(t, p, s)
	})
	return n
}

// tally counts runs.
type tally struct {
	mu         sync.Mutex
	runs       int
	violations int
	missed     int // not reached by all their faults
	unknown    int // with a verdict left open
	disturbed  int // by a busy machine, so that they say nothing
}

func (n *tally) String() string {
	return fmt.Sprintf("%d runs against the real server (%d not reached by every fault): %d violations, %d unknown verdicts, %d disturbed",
		n.runs, n.missed, n.violations, n.unknown, n.disturbed)
}

func (n *tally) add(other *tally) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs, n.violations, n.missed = n.runs+other.runs, n.violations+other.violations, n.missed+other.missed
	n.unknown, n.disturbed = n.unknown+other.unknown, n.disturbed+other.disturbed
}

// tries is how often a run is played that the machine disturbs.
const tries = 3

// try plays a scenario and counts what comes of it. It fails the test, and returns
// nil, if it cannot be played; a violation fails the test too.
func (n *tally) try(t *testing.T, p *pool, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	var o *scenario.Outcome
	for try := 0; try == 0 || try < tries && o.Disturbed(); try++ {
		var err error
		if o, err = p.run(t, s); err != nil {
			t.Errorf("%s, plan %v: %v", s, s.Plan, err)
			return nil
		}
	}
	n.count(t, o)
	return o
}

func (n *tally) count(t *testing.T, o *scenario.Outcome) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs++
	if len(o.Result.Missed) > 0 {
		n.missed++
	}
	switch {
	case o.Disturbed():
		n.disturbed++
		t.Logf("disturbed for %s: %s, plan %v: %s", o.Result.Stalled, o.Scenario, o.Scenario.Plan, o.Summary())
	case o.Status() == linearizability.Violated:
		n.violations++
		t.Errorf("%s\nstalled for %s; the whole trace:\n%s", o.Story(), o.Result.Stalled, o.Result.Trace)
	case o.Status() == linearizability.Unknown:
		n.unknown++
		t.Logf("unknown: %s, plan %v: %v", o.Scenario, o.Scenario.Plan, o.Verdicts())
	}
}

// slow is the virtual time from which on a workload gets a third of the runs.
const slow = 40 * time.Second

// somePlans are the single faults and the random plans to try.
func somePlans(base *scenario.Outcome) [][]fault.Fault {
	name := base.Scenario.Workload.Impl
	dice := rand.New(rand.NewPCG(*seed, uint64(len(name))<<8|uint64(name[len(name)-1])))
	share := 1
	if base.Result.Elapsed > slow {
		share = 3
	}
	all := slices.DeleteFunc(hunt.FaultPoints(base), func(f fault.Fault) bool { return f.Kind == fault.LateReap })
	chosen := slices.Clone(all)
	dice.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	if *points > 0 {
		chosen = chosen[:min((*points+share-1)/share, len(chosen))]
	}
	var list [][]fault.Fault
	for _, f := range chosen {
		list = append(list, []fault.Fault{f})
	}
	for range (*plans + share - 1) / share {
		plan := make([]fault.Fault, 2+dice.IntN(2))
		for i := range plan {
			plan[i] = all[dice.IntN(len(all))]
		}
		slices.SortFunc(plan, func(a, b fault.Fault) int { return strings.Compare(a.String(), b.String()) })
		list = append(list, slices.Compact(plan))
	}
	return list
}
