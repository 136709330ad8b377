package fuzz_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// TestRightCodeAtAnotherPathIsNotConvicted, but told what it has to claim.
func TestRightCodeAtAnotherPathIsNotConvicted(t *testing.T) {
	lock := func(path string) func(fuzz.Env) fuzz.Locker {
		return func(env fuzz.Env) fuzz.Locker { return recipes.NewLock(env.InTurn(), path) }
	}
	for name, c := range map[string]struct {
		workload fuzz.Workload
		want     string
	}{
		"lock deeper": {fuzz.LockWorkload(lock("/lock/mine")).Named(""), "under /lock/mine, none at /lock or as its child"},
		"reentrant deeper": {fuzz.ReentrantWorkload(func(env fuzz.Env) fuzz.Locker {
			return recipes.NewReentrantLock(env.InTurn(), "/reentrant/mine")
		}).Named(""), "set LockClaims.Path"},
		"rwlock deeper": {fuzz.RWLockWorkload(func(env fuzz.Env) fuzz.RWLocker {
			return recipes.NewRWLock(env.InTurn(), "/rwlock/a")
		}).Named(""), "under /rwlock/a"},
		"queue deeper": {fuzz.QueueWorkload(func(env fuzz.Env) fuzz.Queuer {
			return recipes.NewApacheQueue(env.InTurn(), "/queue/mine")
		}).Named(""), "under /queue as its child (one was at /queue/mine/"},
		"queue with items": {fuzz.QueueWorkload(func(env fuzz.Env) fuzz.Queuer {
			return recipes.NewQueue(env.InTurn(), "/queue")
		}).Named(""), "QueueClaims.Items to that of the elements"},
		"priority queue deeper": {fuzz.PriorityQueueWorkload(func(env fuzz.Env) fuzz.PriorityQueuer {
			return recipes.NewPriorityQueue(env.InTurn(), "/queue/mine")
		}).Named(""), "QueueClaims.Path"},
		"barrier": {fuzz.BarrierWorkload(func(env fuzz.Env) fuzz.Barrierer {
			return recipes.NewBarrier(env.InTurn(), "/barrier")
		}).Named(""), "under /barriers/b (one was at /barrier); set BarrierClaims.Path"},
		"threshold barrier": {fuzz.ThresholdBarrierWorkload(func(env fuzz.Env) fuzz.ThresholdBarrierer {
			return recipes.NewThresholdBarrier(env.Conn, "/gate")
		}).Named(""), "set BarrierClaims.Path"},
		"double barrier": {fuzz.DoubleBarrierWorkload(func(env fuzz.Env) fuzz.DoubleBarrierer {
			return recipes.NewDoubleBarrier(env.Conn, "/mine", env.Size)
		}).Named(""), "set BarrierClaims.Path"},
		"election": {fuzz.ElectionWorkload(func(env fuzz.Env) fuzz.Elector {
			return lockElector{recipes.NewLock(env.Conn, "/mine")}
		}).Named(""), "set LockClaims.Path"},
		"ids": {fuzz.IDGeneratorWorkload(func(env fuzz.Env) fuzz.IDSource {
			return recipes.NewIDGenerator(env.InTurn(), "/myids", 2)
		}).Named(""), "set IDClaims.Path"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fuzz.Scenario{Workload: c.workload, Script: fuzz.DefaultScript, Seed: 1}.Run()
			if !errors.Is(err, fuzz.ErrClaims) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %v that says %q", err, fuzz.ErrClaims, c.want)
			}
		})
	}
	claimed := fuzz.LockWorkload(lock("/lock/mine"), fuzz.LockClaims{Path: "/lock/mine"}).Named("")
	if o := run(t, fuzz.Scenario{Workload: claimed, Script: fuzz.DefaultScript, Seed: 1}); o.Status() != linearizability.OK {
		t.Errorf("with the claim: %s", o.Story())
	}
}
