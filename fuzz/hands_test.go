package fuzz_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var pairs = flag.Int("pairs", 3, "number of random scenarios with several hands, or rough, that each workload plays twice")

// otherScenario draws a scenario that is rough, or in which goroutines share an
// object, of each kind of schedule in turn.
func otherScenario(w fuzz.Workload, seed uint64) fuzz.Scenario {
	s := randomScenario(w, seed)
	rng := rand.New(rand.NewPCG(seed, 8))
	s.Script.Rough = !w.Shared || rng.IntN(2) == 0
	if w.Shared {
		s.Script.Hands = 1 + rng.IntN(4)
	}
	switch seed % 3 {
	case 0:
		s.Schedule.Kind = fakezk.Priorities
		s.Schedule.Numbers = []int{1 + rng.IntN(100), 101 + rng.IntN(100)}
	case 1:
		s.Schedule.Kind = fakezk.Choices
		for range rng.IntN(60) {
			s.Schedule.Numbers = append(s.Schedule.Numbers, rng.IntN(3))
		}
	}
	return s
}

// TestTwoRunsOfSeveralHandsHaveOneTrace, although they share a connection, a
// session and an object, which one of them closes now and then.
func TestTwoRunsOfSeveralHandsHaveOneTrace(t *testing.T) {
	for _, w := range fuzz.Workloads() {
		t.Run(w.Name+"/"+w.Impl, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*pairs) {
				s := otherScenario(w, seed)
				o, same, err := s.Traces()
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

// TestScenariosThatOnceHadTwoTracesHaveOne: in both, hands came to send at the same
// instant after different waits.
func TestScenariosThatOnceHadTwoTracesHaveOne(t *testing.T) {
	t.Parallel()
	for _, s := range []fuzz.Scenario{
		{
			Workload: builtin(t, "semaphore", "recipes.Semaphore"), Script: fuzz.Script{Clients: 3, Rounds: 2, Hands: 3}, Seed: 13557070725866855798,
			Schedule: fakezk.Schedule{Kind: fakezk.Priorities, Numbers: []int{129, 85}},
		},
		{
			Workload: builtin(t, "id-generator", ""), Script: fuzz.Script{Clients: 3, Rounds: 2, Hands: 3, Rough: true}, Seed: 1,
			Plan: plan(t, "delay 10s client=b event=16"),
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

// TestHandsOutOfTurnHaveManyTraces is the control: without InTurn the hands of one
// client race.
func TestHandsOutOfTurnHaveManyTraces(t *testing.T) {
	t.Parallel()
	w := fuzz.SemaphoreWorkload("out of turn", fuzz.SemaphoreClaims{}, func(c *zk.Conn) fuzz.Semaphore {
		return wrappedSemaphore{Semaphore: recipes.NewSemaphore(c, "/semaphore", 2), wrap: func(l *recipes.Lease) fuzz.Lease { return l }}
	})
	for seed := range uint64(300) {
		s := randomScenario(w, seed)
		s.Script.Hands = 4
		if _, same, err := s.Traces(); err != nil {
			t.Fatal(err)
		} else if !same {
			return
		}
	}
	t.Error("every two runs are equal")
}

// TestHandsAreForWhatIsShared, and for nothing else.
func TestHandsAreForWhatIsShared(t *testing.T) {
	s := fuzz.Scenario{Workload: builtin(t, "lock", ""), Script: fuzz.Script{Clients: 1, Rounds: 1, Hands: 2}}
	if _, err := s.Run(); err == nil || !strings.Contains(err.Error(), "hands: 2; expected 1: an object of lock recipes.Lock") {
		t.Errorf("error %v", err)
	}
}
