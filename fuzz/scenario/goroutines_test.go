package scenario_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// otherScenario draws a careless scenario, or one in which goroutines share an
// object, with each kind of schedule in turn.
func otherScenario(w scenario.Workload, seed uint64) scenario.Scenario {
	s := randomScenario(w, seed)
	rng := rand.New(rand.NewPCG(seed, 8))
	s.Script.Careless = !w.Shared || rng.IntN(2) == 0
	if w.Shared {
		s.Script.Goroutines = 1 + rng.IntN(4)
	}
	switch seed % 3 {
	case 0:
		s.Schedule.Kind = sim.Priorities
		s.Schedule.Numbers = []int{1 + rng.IntN(100), 101 + rng.IntN(100)}
	case 1:
		s.Schedule.Kind = sim.Choices
		for range rng.IntN(60) {
			s.Schedule.Numbers = append(s.Schedule.Numbers, rng.IntN(3))
		}
	}
	return s
}

// TestTwoRunsOfSeveralGoroutinesHaveOneTrace, although they share a connection, a
// session and an object, and one of them closes the object now and then.
func TestTwoRunsOfSeveralGoroutinesHaveOneTrace(t *testing.T) {
	onProcessors(t, 4)
	for _, w := range builtin.Workloads() {
		t.Run(w.Name+"/"+w.Impl, func(t *testing.T) {
			for seed := range testrun.Pick(uint64(3), 10) { // of each kind of schedule
				s := otherScenario(w, seed)
				o, difference, err := twice(s)
				if err != nil {
					t.Errorf("%s, plan %v: %v", s, s.Plan, err)
					continue
				}
				if difference != "" {
					t.Errorf("two runs differ: %s, plan %v\n%s", s, s.Plan, difference)
				}
				if o.Status() == linearizability.Violated && w.Flawed == "" {
					t.Errorf("%s, plan %v:\n%s", s, s.Plan, o.Story())
				}
			}
		})
	}
}

// TestScenariosThatOnceHadTwoOutcomesHaveOne: in the first two goroutines sent at the same
// instant after different waits. In the third a goroutine of the client had started
// another, and the simulation did not know it. The last three had one trace and several
// histories: two leases were lost at one instant, and calls returned while the World was
// torn down.
func TestScenariosThatOnceHadTwoOutcomesHaveOne(t *testing.T) {
	onProcessors(t, 4)
	for _, s := range []scenario.Scenario{
		{
			Workload: fuzztest.Builtin(t, "semaphore", "recipes.Semaphore"),
			Script:   scenario.Script{Clients: 3, Rounds: 2, Goroutines: 3},
			Seed:     13557070725866855798,
			Schedule: sim.Schedule{Kind: sim.Priorities, Numbers: []int{129, 85}},
		},
		{
			Workload: fuzztest.Builtin(t, "id-generator", ""), Script: scenario.Script{
				Clients: 3, Rounds: 2, Goroutines: 3, Careless: true,
			}, Seed: 1,
			Plan: plan(t, "delay 10s client=b event=16"),
		},
		{
			Workload: fuzztest.Builtin(t, "lock", "recipes.WriteLock"),
			Script:   scenario.Script{Clients: 1, Rounds: 2, Careless: true},
			Seed:     14226008342426946284,
			Plan:     plan(t, "stall 3s client=a request=11", "blackhole 3s client=a request=6"),
		},
		{
			Workload: fuzztest.Builtin(t, "semaphore", "recipes.Semaphore"),
			Script:   scenario.Script{Clients: 2, Rounds: 2, Goroutines: 3, Careless: true},
			Seed:     337,
			Plan: plan(t, "late-reap-unlike-3.8 1s client=b request=85",
				"stall-mid-frame 1s client=b request=40"),
		},
		{
			Workload: fuzztest.Builtin(t, "lock", "zk.Lock"),
			Script:   scenario.Script{Clients: 2, Rounds: 2}, Seed: 204,
			Plan: plan(t, "late-reap-unlike-3.8 1s client=a request=10", "blackhole 1s client=b request=9"),
		},
		{
			Workload: fuzztest.Builtin(t, "lock", "zk.Lock"),
			Script:   scenario.Script{Clients: 2, Rounds: 2}, Seed: 211,
			Plan: plan(t, "late-reap-unlike-3.8 10s client=b request=8", "delay 10s client=a request=7"),
		},
	} {
		first := run(t, s)
		for range testrun.Pick(4, 20) {
			if difference := first.Difference(run(t, s)); difference != "" {
				t.Errorf("two runs differ: %s, plan %v\n%s", s, s.Plan, difference)
				break
			}
		}
	}
}

// TestGoroutinesBeginTheirCallsInTurn: goroutines that one event wakes use the memory of
// an object in an order that is the same in each run.
func TestGoroutinesBeginTheirCallsInTurn(t *testing.T) {
	onProcessors(t, 4)
	type numbers struct {
		given atomic.Int64
		start chan struct{}
	}
	play := func(p *scenario.Player, s scenario.Script, h *scenario.Handle[*numbers]) {
		n := h.Now()
		if p.Goroutine() == 0 {
			p.Pause(time.Second)
			close(n.start)
		}
		<-n.start
		for range s.Rounds {
			if err := p.Do("take", "", func(context.Context) (linearizability.Result, error) {
				return linearizability.Result{Output: fmt.Sprint(n.given.Add(1))}, nil
			}); err != nil {
				t.Error(err)
			}
		}
	}
	w := scenario.Workload{
		Name: "numbers", Impl: "in memory", Shared: true, Judge: scenario.Invariants(),
		Play: scenario.Shared(func(*scenario.Player) *numbers {
			return &numbers{start: make(chan struct{})}
		}, play),
	}
	s := scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 1, Rounds: 3, Goroutines: 4}, Seed: 1,
	}
	for range testrun.Pick(10, 50) {
		for i, op := range run(t, s).History.Ops {
			if want := fmt.Sprint(
				1 + i/s.Script.Rounds + i%s.Script.Rounds*s.Script.Goroutines,
			); op.Output != want {
				t.Fatalf("call %d of goroutine %d has got number %s, want %s", 1+i%s.Script.Rounds,
					1+i/s.Script.Rounds, op.Output, want)
			}
		}
	}
}

// TestGoroutinesOutOfTurnHaveManyTraces is the control: without InTurn the goroutines of one
// client race, here for the numbers of nodes that all make at one instant.
func TestGoroutinesOutOfTurnHaveManyTraces(t *testing.T) {
	onProcessors(t, 4)
	play := func(p *scenario.Player, _ scenario.Script, h *scenario.Handle[chan struct{}]) {
		call := p.Begin("make", "")
		if p.Goroutine() == 0 {
			p.Pause(time.Second)
			close(h.Now())
		}
		<-h.Now()
		made, err := p.Conn().Create("/numbers/n-", nil, zk.FlagSequence,
			zk.WorldACL(zk.PermAll))
		if err != nil {
			t.Error(err)
		}
		call.OK(linearizability.Result{Output: made})
	}
	w := scenario.Workload{
		Name: "numbers", Impl: "out of turn", Shared: true, Judge: scenario.Invariants(),
		Nodes: map[string]string{"/numbers": ""},
		Play: scenario.Shared(func(*scenario.Player) chan struct{} {
			return make(chan struct{})
		}, play),
	}
	for seed := range uint64(300) {
		s := scenario.Scenario{
			Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1, Goroutines: 8}, Seed: seed,
		}
		if _, difference, err := twice(s); err != nil {
			t.Fatal(err)
		} else if difference != "" {
			return
		}
	}
	t.Error("every two runs are equal")
}

// TestOnlySharedObjectsHaveSeveralGoroutines.
func TestOnlySharedObjectsHaveSeveralGoroutines(t *testing.T) {
	s := scenario.Scenario{
		Workload: fuzztest.Builtin(t, "election", ""),
		Script:   scenario.Script{Clients: 1, Rounds: 1, Goroutines: 2},
	}
	if _, err := s.Run(); err == nil || !strings.Contains(err.Error(),
		"goroutines: 2; expected 1: an object of election recipes.LeaderLatch") {
		t.Errorf("error %v", err)
	}
}
