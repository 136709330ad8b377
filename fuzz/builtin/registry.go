// Package builtin has the workloads of package recipes and of the go-zookeeper client: for each
// recipe, a [scenario.Workload] that makes it on a connection. The zksim command and scenario files
// use them by name:
//
//	w, err := builtin.Find("lock", "") // the recommended lock; see Workloads for all
//	script := scenario.Script{Clients: 2, Rounds: 2}
//	outcome, err := scenario.Scenario{Workload: w, Script: script, Seed: 1}.Run()
//
// A workload of your own needs nothing from here: package object makes it from a constructor.
package builtin

import "github.com/zksim/zksim/fuzz/scenario"

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
	}
	return list
}

// Find returns a built-in workload. An empty impl means the recommended one.
func Find(name, impl string) (scenario.Workload, error) { return Workloads().Find(name, impl) }
