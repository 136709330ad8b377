package fuzz_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// TestRightCodeAtAnotherPathIsNotConvicted, but told what it has to claim.
func TestRightCodeAtAnotherPathIsNotConvicted(t *testing.T) {
	lock := func(path string) func(c *zk.Conn) fuzz.Locker {
		return func(c *zk.Conn) fuzz.Locker { return recipes.NewLock(fuzz.InTurn(c), path) }
	}
	for name, c := range map[string]struct {
		workload fuzz.Workload
		want     string
	}{
		"lock deeper": {fuzz.LockWorkload("", fuzz.LockClaims{}, lock("/lock/mine")), "under /lock/mine, none at /lock or as its child"},
		"reentrant deeper": {fuzz.ReentrantWorkload("", fuzz.LockClaims{}, func(c *zk.Conn) fuzz.Locker {
			return recipes.NewReentrantLock(fuzz.InTurn(c), "/reentrant/mine")
		}), "set LockClaims.Path"},
		"rwlock deeper": {fuzz.RWLockWorkload("", fuzz.LockClaims{}, func(c *zk.Conn) fuzz.RWLocker {
			return recipes.NewRWLock(fuzz.InTurn(c), "/rwlock/a")
		}), "under /rwlock/a"},
		"queue deeper": {fuzz.QueueWorkload("", fuzz.QueueClaims{}, func(c *zk.Conn) fuzz.Queuer {
			return classic.NewApacheQueue(fuzz.InTurn(c), "/queue/mine", zk.WorldACL(zk.PermAll))
		}), "under /queue as its child (one was at /queue/mine/"},
		"queue with items": {fuzz.QueueWorkload("", fuzz.QueueClaims{}, func(c *zk.Conn) fuzz.Queuer {
			return recipes.NewQueue(fuzz.InTurn(c), "/queue")
		}), "QueueClaims.Items to that of the elements"},
		"priority queue deeper": {fuzz.PriorityQueueWorkload("", fuzz.QueueClaims{}, func(c *zk.Conn) fuzz.PriorityQueuer {
			return recipes.NewPriorityQueue(fuzz.InTurn(c), "/queue/mine")
		}), "QueueClaims.Path"},
		"barrier": {fuzz.BarrierWorkload("", fuzz.BarrierClaims{}, func(c *zk.Conn) fuzz.Barrierer {
			return recipes.NewBarrier(fuzz.InTurn(c), "/barrier")
		}), "under /barriers/b (one was at /barrier); set BarrierClaims.Path"},
		"threshold barrier": {fuzz.ThresholdBarrierWorkload("", fuzz.BarrierClaims{}, func(c *zk.Conn) fuzz.ThresholdBarrierer {
			return recipes.NewThresholdBarrier(c, "/gate")
		}), "set BarrierClaims.Path"},
		"double barrier": {fuzz.DoubleBarrierWorkload("", fuzz.BarrierClaims{}, func(c *zk.Conn, size int) fuzz.DoubleBarrierer {
			return recipes.NewDoubleBarrier(c, "/mine", size)
		}), "set BarrierClaims.Path"},
		"election": {fuzz.ElectionWorkload("", fuzz.LockClaims{}, func(c *zk.Conn, name string) fuzz.Elector {
			return lockElector{recipes.NewLock(c, "/mine")}
		}), "set LockClaims.Path"},
		"ids": {fuzz.IDGeneratorWorkload("", fuzz.IDClaims{}, func(c *zk.Conn) fuzz.IDGenerator {
			return recipes.NewIDGenerator(fuzz.InTurn(c), "/myids", 2)
		}), "set IDClaims.Path"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fuzz.Scenario{Workload: c.workload, Script: fuzz.DefaultScript, Seed: 1}.Run()
			if !errors.Is(err, fuzz.ErrClaims) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %v that says %q", err, fuzz.ErrClaims, c.want)
			}
		})
	}
	claimed := fuzz.LockWorkload("", fuzz.LockClaims{Path: "/lock/mine"}, lock("/lock/mine"))
	if o := run(t, fuzz.Scenario{Workload: claimed, Script: fuzz.DefaultScript, Seed: 1}); o.Status() != linearizability.OK {
		t.Errorf("with the claim: %s", o.Story())
	}
}
