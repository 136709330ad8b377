package object_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
)

// TestOnlyObjectsInTurnAreShared: a shared object needs InTurn and a kind that several goroutines
// can share. Each goroutine can have a lock of its own.
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
		"lock": {object.Lock(func(env object.Env) object.Locker {
			return recipes.NewLock(env.Conn, env.Path)
		}), true},
		"read-write lock in turn": {object.RWLock(func(env object.Env) object.RWLocker {
			return recipes.NewRWLock(env.InTurn(), env.Path)
		}), false},
	} {
		s := scenario.Scenario{Workload: c.workload, Script: scenario.DefaultScript, Seed: 1}
		o, err := s.Run()
		check.OK(t, err)
		check.Equal(t, o.Shared, c.shared, "%s: shared", name)
	}
}

// sessionCounter is a counter that waits for a session before each call, as code does that takes
// the results of zk.Connect.
type sessionCounter struct {
	object.Counterer
	online atomic.Bool
}

func newSessionCounter(conn *zk.Conn, events <-chan zk.Event, path string) *sessionCounter {
	c := &sessionCounter{Counterer: recipes.NewCounter(conn, path)}
	go func() {
		for ev := range events {
			c.online.Store(ev.State == zk.StateHasSession)
		}
	}()
	return c
}

func (c *sessionCounter) Add(ctx context.Context, delta int64) (int64, error) {
	for !c.online.Load() && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	return c.Counterer.Add(ctx, delta)
}

// TestEventsAreThoseOfConn: code that waits for its session by them survives a hunt, and two runs
// of a scenario are equal.
func TestEventsAreThoseOfConn(t *testing.T) {
	t.Parallel()
	w := object.Counter(func(env object.Env) object.Counterer {
		return newSessionCounter(env.Conn, env.Events, env.Path)
	})
	found, err := hunt.Hunt{
		Workload: w, Script: scenario.DefaultScript, Seed: 1, Runs: 32, CheckDeterminism: true,
	}.Run(t.Context())
	check.OK(t, err)
	if found.First() != nil || len(found.Divergences) > 0 {
		t.Errorf("found %v, diverged %q", found.First(), found.Divergences)
	}
}
