package gallery

import (
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
)

// kinds are the kinds of objects, each with its right base and its exhibits.
var kinds = []kind{
	{"lock", lockOf(nil), slices.Concat(publishedLockOrder, publishedLockOwnNode, publishedLockWait,
		publishedLockRelease), slices.Concat(plantedLocks, roughLocks)},
	{"single-node-lock", singleOf(nil), publishedLockSingle, nil},
	{"reentrant", reentrantOf(nested{}), publishedReentrant, plantedReentrant},
	{"revocable", builtIn("revocable", "recipes.RevocableLock"), nil, plantedRevocableLocks},
	{"multi-lock", multiLockOf(nil), nil, plantedMultiLocks},
	{"rwlock", readWriteOf(nil), slices.Concat(publishedRwlock, publishedRwlockDrawn),
		slices.Concat(plantedRwlock, plantedVersionLocks)},
	{"semaphore", semaphoreOf(nil), publishedSemaphore,
		slices.Concat(plantedSemaphores, roughSemaphores)},
	{"election", electionOf(nil), publishedElection, plantedElections},
	{"turn-queue", turnOf(nil), publishedTurnQueue, plantedTurns},
	{"barrier", barrierOf(barrierDefects{}), publishedBarriers, append(plantedBarriers, roughBarrier)},
	{"double-barrier", doubleBarrier(), publishedDoubleBarrier, plantedDoubleBarriers},
	{"threshold-barrier", quorumOf(nil), publishedThresholdBarrier, plantedThresholds},
	{"queue", queue(), publishedQueue, append(plantedQueues, handsQueue)},
	{"id-queue", builtIn("id-queue", "recipes.IDQueue"), nil, plantedIDQueues},
	{"priority-queue", builtIn("priority-queue", "recipes.PriorityQueue"), nil, plantedPriorityQueues},
	{"delay-queue", builtIn("delay-queue", "recipes.DelayQueue"), nil, plantedDelayQueues},
	{"lock-queue", builtIn("lock-queue", "recipes.LockQueue"), publishedLockQueue, plantedLockQueues},
	{"counter", counterOf(counterDefects{}), publishedCounter, append(plantedCounters, handsCounter)},
	{"ids", idsOf(ids{}, counted), nil, plantedIDs},
	{"value", valueOf(valueDefects{}), publishedValue, plantedValues},
	{"cache", tellingOf(nil), publishedCache, plantedCaches},
	{"config", centerOf(nil), publishedConfig, plantedConfigs},
	{"membership", groupOf(nil), publishedMembership, plantedMembership},
	{"rivals", rivalsOf(rivalDefects{}), nil, plantedRivals},
	{"registry", pickingOf(nil), publishedRegistry, plantedRegistries},
	{"two-phase-commit", commitOf(commitDefects{ownAwait: true}), nil, plantedCommits},
}

// Bases are the right recipes of the kinds, by the names of these.
func Bases() map[string]scenario.Workload {
	bases := map[string]scenario.Workload{}
	for _, k := range kinds {
		bases[k.name] = k.base.Named("base")
	}
	return bases
}
