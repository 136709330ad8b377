package real

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// TestRightWorkloadsSurvive: workloads that survive the faults of a simulated server
// survive those of a real one. Without -full it plays every third workload that takes some
// seconds.
func TestRightWorkloadsSurvive(t *testing.T) {
	t.Parallel()
	p := startPool(t, *servers)
	var right []scenario.Workload
	for i, w := range builtin.Workloads().Sound() {
		if testrun.Full() || i%3 == 0 && !slices.Contains(slowKinds, w.Name) {
			right = append(right, w)
		}
	}
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

// slowKinds are kinds of objects that are slow to settle.
var slowKinds = []string{"registry", "membership", "config", "cache"}

// survives plays a workload without faults, with some single faults, and with random
// plans.
func survives(t *testing.T, p *pool, w scenario.Workload) *tally {
	t.Helper()
	n := &tally{}
	script := scenario.Script{Clients: *clients, Rounds: *rounds}
	s := scenario.Scenario{Workload: w, Script: script, Seed: *seed}
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
	missed     int // runs that a fault did not reach
	unknown    int // runs with an open verdict
}

func (n *tally) String() string {
	return fmt.Sprintf("%d runs against the real server (%d not reached by every fault): "+
		"%d violations, %d unknown verdicts",
		n.runs, n.missed, n.violations, n.unknown)
}

func (n *tally) add(other *tally) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs += other.runs
	n.violations += other.violations
	n.missed += other.missed
	n.unknown += other.unknown
}

// tries is how often a run without a verdict is played: the machine may be too busy.
const tries = 3

// try plays a scenario and counts its outcome. It fails the test if a property is
// violated. If the scenario cannot be played, it fails the test and returns nil.
func (n *tally) try(t *testing.T, p *pool, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	var o *scenario.Outcome
	for try := 0; try == 0 || try < tries && o.Status() == linearizability.Unknown; try++ {
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
	case o.Status() == linearizability.Violated:
		n.violations++
		t.Errorf("%s\nstalled for %s; the whole trace:\n%s",
			o.Story(), o.Result.Stalled, o.Result.Trace)
	case o.Status() == linearizability.Unknown:
		n.unknown++
		t.Logf("unknown: %s, plan %v: %v", o.Scenario, o.Scenario.Plan, o.Verdicts())
	}
}

// slow is the virtual time of a fault-free run above which a workload gets a third of
// the runs.
const slow = 40 * time.Second

// somePlans lists the single faults and the random plans to try.
func somePlans(base *scenario.Outcome) [][]fault.Fault {
	dice := diceOf(base.Scenario.Workload.Impl)
	share := 1
	if base.Result.Elapsed > slow {
		share = 3
	}
	all := slices.DeleteFunc(hunt.FaultPoints(base), func(f fault.Fault) bool {
		return realworld.Refuse(f.Kind, false) != nil
	})
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
		list = append(list, randomPlan(dice, all))
	}
	return list
}

// diceOf is a source of randomness for one implementation.
func diceOf(impl string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(impl)) // never fails
	return rand.New(rand.NewPCG(*seed, h.Sum64()))
}

// randomPlan draws two or three faults. Equal ones count once.
func randomPlan(dice *rand.Rand, all []fault.Fault) []fault.Fault {
	plan := make([]fault.Fault, 2+dice.IntN(2))
	for i := range plan {
		plan[i] = all[dice.IntN(len(all))]
	}
	slices.SortFunc(plan, func(a, b fault.Fault) int {
		return strings.Compare(a.String(), b.String())
	})
	return slices.Compact(plan)
}
