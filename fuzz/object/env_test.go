package object_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// TestOnlyObjectsInTurnAreShared: a shared object needs InTurn and a kind that several goroutines
// can share.
func TestOnlyObjectsInTurnAreShared(t *testing.T) {
	for name, c := range map[string]struct {
		workload scenario.Workload
		shared   bool
	}{
		"counter in turn": {object.Counter(func(env object.Env) object.Counterer {
			return recipes.NewCounter(env.InTurn(), env.Path)
		}), true},
		"counter": {object.Counter(func(env object.Env) object.Counterer {
			return recipes.NewCounter(env.Conn, env.Path)
		}), false},
		"lock in turn": {object.Lock(func(env object.Env) object.Locker {
			return recipes.NewLock(env.InTurn(), env.Path)
		}), true},
		"read-write lock in turn": {object.RWLock(func(env object.Env) object.RWLocker {
			return recipes.NewRWLock(env.InTurn(), env.Path)
		}), false},
	} {
		s := scenario.Scenario{Workload: c.workload, Script: scenario.DefaultScript, Seed: 1}
		o, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		if o.Shared != c.shared {
			t.Errorf("%s: shared: %v; want %v", name, o.Shared, c.shared)
		}
	}
}
