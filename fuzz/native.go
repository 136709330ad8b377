package fuzz

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/linearizability"
)

// Fuzz makes a native fuzz target of a workload, for go test -fuzz: the engine's
// bytes decide seed, plan and schedule.
//
//	func FuzzMyLock(f *testing.F) {
//		fuzz.Fuzz(f, fuzz.LockWorkload("mylock", fuzz.LockClaims{}, open))
//	}
func Fuzz(f *testing.F, w Workload) {
	f.Helper()
	base, err := Scenario{Workload: w, Script: DefaultScript, Seed: 1}.Run()
	if err != nil {
		f.Fatalf("zksim: %v", err)
	}
	space := newPlanSpace(base, 0)
	for n := range 8 { // something to begin with: bytes as rapid reads them
		seed := make([]byte, 512)
		for i := range seed {
			seed[i] = byte(hash(uint64(n), uint64(i)))
		}
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		s := base.Scenario
		s.Seed = rapid.Uint64().Draw(t, "seed")
		s.Plan = space.plans().Draw(t, "plan")
		if rapid.Bool().Draw(t, "by priorities") {
			s.Schedule.Kind = fakezk.Priorities
			s.Schedule.Numbers = rapid.SliceOfN(rapid.IntRange(1, 4*len(base.Result.Requests)+1), 0, maxDepth).Draw(t, "changes")
		}
		o, err := s.Run()
		if err != nil {
			t.Fatalf("zksim: %v", err)
		}
		if o.Status() == linearizability.Violated {
			small, err := Minimize(context.Background(), o)
			if err != nil {
				t.Fatalf("zksim: %v\n\n%s", err, o.Story())
			}
			t.Fatalf("%s", small.Story())
		}
	}))
}
