package fuzz_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
)

// TestLockUnderRapid is how a property-based test of one's own uses plans: rapid draws
// them, and finds a smaller one by itself if something is violated.
func TestLockUnderRapid(t *testing.T) {
	base := run(t, fuzz.Scenario{Workload: builtin(t, "lock", ""), Script: fuzz.Script{Clients: 2, Rounds: 1}, Seed: 1})
	plans := fuzz.Plans(base, 2)
	rapid.Check(t, func(t *rapid.T) {
		s := base.Scenario
		s.Plan = plans.Draw(t, "plan")
		o, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		if o.Status() == linearizability.Violated {
			t.Fatal(o.Story())
		}
	})
}

// TestPlansBreakWhatIsWrong is the control: the lock of the client library.
func TestPlansBreakWhatIsWrong(t *testing.T) {
	base := run(t, fuzz.Scenario{Workload: builtin(t, "lock", "zk.Lock"), Script: fuzz.Script{Clients: 2, Rounds: 1}, Seed: 1})
	plans := fuzz.Plans(base, 2)
	for seed := range 200 {
		s := base.Scenario
		s.Plan = plans.Example(seed)
		if o := run(t, s); o.Status() == linearizability.Violated {
			return
		}
	}
	t.Error("none of 200 plans breaks it")
}
