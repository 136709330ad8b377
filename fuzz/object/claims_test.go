package object_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// TestRightCodeAtAnotherPathIsNotConvicted, but told what it has to claim.
func TestRightCodeAtAnotherPathIsNotConvicted(t *testing.T) {
	lock := func(path string) func(object.Env) object.Locker {
		return func(env object.Env) object.Locker { return recipes.NewLock(env.InTurn(), path) }
	}
	for name, c := range map[string]struct {
		workload scenario.Workload
		want     string
	}{
		"lock deeper": {
			object.Lock(lock("/lock/mine")).Named(""),
			"under /lock/mine, none at /lock or as its child",
		},
		"reentrant deeper": {object.Reentrant(func(env object.Env) object.Locker {
			return recipes.NewReentrantLock(env.InTurn(), "/reentrant/mine")
		}).Named(""), "set LockClaims.Path"},
		"rwlock deeper": {object.RWLock(func(env object.Env) object.RWLocker {
			return recipes.NewRWLock(env.InTurn(), "/rwlock/a")
		}).Named(""), "under /rwlock/a"},
		"queue deeper": {object.Queue(func(env object.Env) object.Queuer {
			return classic.NewApacheQueue(env.InTurn(), "/queue/mine", zk.WorldACL(zk.PermAll))
		}).Named(""), "under /queue as its child (one was at /queue/mine/"},
		"queue with items": {object.Queue(func(env object.Env) object.Queuer {
			return recipes.NewQueue(env.InTurn(), "/queue")
		}).Named(""), "QueueClaims.Items to that of the elements"},
		"priority queue deeper": {object.PriorityQueue(func(env object.Env) object.PriorityQueuer {
			return recipes.NewPriorityQueue(env.InTurn(), "/queue/mine")
		}).Named(""), "QueueClaims.Path"},
		"barrier": {object.Barrier(func(env object.Env) object.Barrierer {
			return recipes.NewBarrier(env.InTurn(), "/barrier")
		}).Named(""), "under /barriers/b (one was at /barrier); set BarrierClaims.Path"},
		"threshold barrier": {object.ThresholdBarrier(
			func(env object.Env) object.ThresholdBarrierer {
				return recipes.NewThresholdBarrier(env.Conn, "/gate")
			}).Named(""), "set BarrierClaims.Path"},
		"double barrier": {object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
			return recipes.NewDoubleBarrier(env.Conn, "/mine", env.Size)
		}).Named(""), "set BarrierClaims.Path"},
		"election": {object.Election(func(env object.Env) object.Elector {
			return lockElector{recipes.NewLock(env.Conn, "/mine")}
		}).Named(""), "set LockClaims.Path"},
		"ids": {object.IDGenerator(func(env object.Env) object.IDSource {
			return recipes.NewIDGenerator(env.InTurn(), "/myids", 2)
		}).Named(""), "set IDClaims.Path"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scenario.Scenario{
				Workload: c.workload, Script: scenario.DefaultScript, Seed: 1,
			}.Run()
			if !errors.Is(err, scenario.ErrClaims) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %v that says %q", err, scenario.ErrClaims, c.want)
			}
		})
	}
	claimed := object.Lock(lock("/lock/mine"), object.LockClaims{Path: "/lock/mine"}).Named("")
	if o := run(t, scenario.Scenario{
		Workload: claimed, Script: scenario.DefaultScript, Seed: 1,
	}); o.Status() != linearizability.OK {
		t.Errorf("with the claim: %s", o.Story())
	}
}

// lockElector elects by a lock.
type lockElector struct{ object.Locker }

func (l lockElector) Lead(ctx context.Context) error   { return l.Lock(ctx) }
func (l lockElector) Resign(ctx context.Context) error { return l.Unlock(ctx) }
func (l lockElector) Close(ctx context.Context) error  { return l.Unlock(ctx) }
