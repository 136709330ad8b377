// Package builtin has the workloads of package recipes. The zksim command and scenario files use
// them by name.
package builtin

import (
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// builtin makes the built-in workloads. Those of one kind are together, the recommended
// implementation first. Every other list of workloads is derived from it.
var builtin = []func() scenario.Workload{
	fairLock,
	herdLock,
	writeLock,
	clientLock,
	reentrantLock,
	fairRWLock,
	versionRWLock,
	leaseSemaphore,
	orderedMultiLock,
	revocableLock,
	fifoQueue,
	apacheQueue,
	lockQueue,
	leaderLatch,
	leaderSelector,
	fixedBarrier,
	doubleBarrier,
	thresholdBarrier,
	twoPhaseCommit,
	priorityQueue,
	delayQueue,
	idQueue,
	turnQueue,
	recordedCounter,
	recordedValue,
	treeCache,
	childrenCache,
	nodeCache,
	blockIDs,
	configCenter,
	watchedGroup,
	contestedNode,
	twoLevelRegistry,
}

// Workloads lists the built-in workloads.
func Workloads() scenario.Catalogue {
	list := make(scenario.Catalogue, len(builtin))
	for i, workload := range builtin {
		list[i] = workload()
		list[i].Properties = judged(list[i].Name)
	}
	return list
}

// judged lists the properties that the judge of a kind judges.
func judged(kind string) []string {
	switch kind {
	case "lock":
		return []string{
			linearizability.Safety, linearizability.Belief, linearizability.Fencing,
			linearizability.Linearizability,
			linearizability.Order, linearizability.Liveness, linearizability.Orphans,
			linearizability.Herd,
		}
	case "queue":
		return []string{
			linearizability.Linearizability, linearizability.Order, linearizability.Delivery,
			linearizability.Liveness,
			linearizability.Orphans,
		}
	default:
		return linearizability.Properties()
	}
}

// Find returns a built-in workload. An empty impl means the recommended one.
func Find(name, impl string) (scenario.Workload, error) { return Workloads().Find(name, impl) }
