package scenario_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var pairs = flag.Int(
	"pairs", 3,
	"number of careless scenarios, or of several goroutines, that each workload plays twice",
)

// otherScenario draws a careless scenario, or one in which goroutines share an
// object, of each kind of schedule in turn.
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
// session and an object, which one of them closes now and then.
func TestTwoRunsOfSeveralGoroutinesHaveOneTrace(t *testing.T) {
	for _, w := range object.Workloads() {
		t.Run(w.Name+"/"+w.Impl, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*pairs) {
				s := otherScenario(w, seed)
				o, same, err := twice(s)
				if err != nil {
					t.Errorf("%s, plan %v: %v", s, s.Plan, err)
					continue
				}
				if !same {
					t.Errorf("two runs differ: %s, plan %v", s, s.Plan)
				}
				if o.Status() == linearizability.Violated && w.Flawed == "" {
					t.Errorf("%s, plan %v:\n%s", s, s.Plan, o.Story())
				}
			}
		})
	}
}

// TestScenariosThatOnceHadTwoTracesHaveOne: in two of them goroutines sent at the same
// instant after different waits. In the last a goroutine of the client had started
// another, and the simulation did not know it.
func TestScenariosThatOnceHadTwoTracesHaveOne(t *testing.T) {
	t.Parallel()
	for _, s := range []scenario.Scenario{
		{
			Workload: builtin(t, "semaphore", "recipes.Semaphore"),
			Script:   scenario.Script{Clients: 3, Rounds: 2, Goroutines: 3},
			Seed:     13557070725866855798,
			Schedule: sim.Schedule{Kind: sim.Priorities, Numbers: []int{129, 85}},
		},
		{
			Workload: builtin(t, "id-generator", ""), Script: scenario.Script{
				Clients: 3, Rounds: 2, Goroutines: 3, Careless: true,
			}, Seed: 1,
			Plan: plan(t, "delay 10s client=b event=16"),
		},
		{
			Workload: builtin(t, "lock", "recipes.WriteLock"),
			Script:   scenario.Script{Clients: 1, Rounds: 2, Careless: true},
			Seed:     14226008342426946284,
			Plan:     plan(t, "stall 3s client=a request=11", "blackhole 3s client=a request=6"),
		},
	} {
		first := run(t, s).Result.Trace.Hash()
		for range 20 {
			if run(t, s).Result.Trace.Hash() != first {
				t.Errorf("two runs differ: %s, plan %v", s, s.Plan)
				break
			}
		}
	}
}

// TestGoroutinesBeginTheirCallsInTurn: goroutines that one event wakes use the memory of
// an object in an order that is the same in each run.
func TestGoroutinesBeginTheirCallsInTurn(t *testing.T) {
	t.Parallel()
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
	for range 50 {
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
	t.Parallel()
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
		if _, same, err := twice(s); err != nil {
			t.Fatal(err)
		} else if !same {
			return
		}
	}
	t.Error("every two runs are equal")
}

// TestOnlySharedObjectsHaveSeveralGoroutines.
func TestOnlySharedObjectsHaveSeveralGoroutines(t *testing.T) {
	s := scenario.Scenario{
		Workload: builtin(t, "lock", ""),
		Script:   scenario.Script{Clients: 1, Rounds: 1, Goroutines: 2},
	}
	if _, err := s.Run(); err == nil ||
		!strings.Contains(
			err.Error(), "goroutines: 2; expected 1: an object of lock recipes.Lock",
		) {
		t.Errorf("error %v", err)
	}
}
