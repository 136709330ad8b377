package scenario_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
)

// randomScenario draws a scenario of a built-in workload.
func randomScenario(w scenario.Workload, seed uint64) scenario.Scenario {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 1 + rng.IntN(4), Rounds: 1 + rng.IntN(3)},
		Seed: rng.Uint64(),
	}
	for range rng.IntN(5) {
		s.Plan = append(s.Plan, randomFault(rng, s.Script.Clients))
	}
	return s
}

func randomFault(rng *rand.Rand, clients int) fault.Fault {
	kinds := fault.KindsFor(1)
	k := kinds[rng.IntN(len(kinds))]
	f := fault.Fault{Kind: k.Kind, Client: string(rune('a' + rng.IntN(clients)))}
	if k.Lasts {
		f.For = time.Duration(1+rng.IntN(120)) * 100 * time.Millisecond
	}
	switch {
	case k.OnTime && rng.IntN(3) == 0:
		f.At = time.Duration(1+rng.IntN(300)) * time.Millisecond
	case k.OnEvent && rng.IntN(3) == 0:
		f.Event = 1 + rng.IntN(3)
	default:
		f.Request = 1 + rng.IntN(12)
	}
	return f
}

// twice runs a scenario twice. It returns the first outcome, and its difference from the second.
func twice(s scenario.Scenario) (o *scenario.Outcome, difference string, err error) {
	if o, err = s.Run(); err != nil {
		return nil, "", err
	}
	again, err := s.Run()
	if err != nil {
		return nil, "", err
	}
	return o, o.Difference(again), nil
}

// checkTwice runs scenarios of the built-in workloads twice. Each seed takes five workloads, so
// that more workloads do not take longer.
func checkTwice(t *testing.T, from, to uint64) {
	t.Helper()
	workloads := builtin.Workloads()
	for seed := from; seed < to; seed++ {
		for i := range uint64(5) {
			w := workloads[(5*seed+i)%uint64(len(workloads))]
			s := randomScenario(w, seed)
			o, difference, err := twice(s)
			if err != nil {
				t.Errorf("%s, plan %v: %v", s, s.Plan, err)
				continue
			}
			if difference != "" {
				t.Errorf("two runs differ: %s, plan %v\n%s", s, s.Plan, difference)
			}
			if o.Result.Leaked+o.Result.Frozen != "" || len(o.Result.Panics) > 0 {
				t.Errorf("%s, plan %v: panics %v, leaked %s, frozen %s", s, s.Plan, o.Result.Panics,
					o.Result.Leaked, o.Result.Frozen)
			}
		}
	}
}

// onProcessors gives a test, which must not be parallel, several processors: on one the
// goroutines of a client that does not await its turns seldom race.
func onProcessors(t *testing.T, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func TestTwoRunsHaveOneTrace(t *testing.T) {
	onProcessors(t, 4)
	checkTwice(t, 0, testrun.Pick(uint64(10), 100))
}

func TestTracesDoNotDependOnTheNumberOfProcessors(t *testing.T) {
	hashes := map[string]string{}
	for _, procs := range []int{1, 2, 4} {
		onProcessors(t, procs)
		for i, w := range builtin.Workloads() {
			for seed := uint64(100 + i); seed < testrun.Pick(uint64(101), 103)+uint64(i); seed++ {
				s := randomScenario(w, seed)
				key, hash := s.String(), run(t, s).Result.Trace.Hash()
				if was, ok := hashes[key]; ok && was != hash {
					t.Errorf("GOMAXPROCS %d: another trace than before: %s, plan %v",
						procs, s, s.Plan)
				}
				hashes[key] = hash
			}
		}
	}
}

func TestScenariosInParallelDoNotDisturbEachOther(t *testing.T) {
	onProcessors(t, 4)
	var group sync.WaitGroup
	for worker := range uint64(2) {
		group.Go(func() { checkTwice(t, 200+10*worker, testrun.Pick(uint64(202), 204)+10*worker) })
	}
	group.Wait()
}
