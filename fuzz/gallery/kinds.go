package gallery

import (
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
)

// kinds are the kinds of objects, each with its right base and its exhibits.
var kinds = []kind{
	{"lock", lockOf(), slices.Concat(publishedLockOrder, publishedLockOwnNode, publishedLockWait,
		publishedLockRelease, publishedLockGo, ensembleLocks),
		append(slices.Concat(plantedLocks, carelessLocks, rareLocks), retryingLock)},
	{"single-node-lock", singleOf(marked), publishedLockSingle, retryingSingles},
	{"reentrant", reentrantOf(), publishedReentrant, plantedReentrant},
	{"revocable", builtIn("revocable", "recipes.RevocableLock"), nil, plantedRevocableLocks},
	{"multi-lock", multiLockOf(severalLocks{}, sorted), nil, plantedMultiLocks},
	{"rwlock", readWriteOf(), slices.Concat(publishedRwlock, publishedRwlockDrawn),
		slices.Concat(plantedRwlock, plantedVersionLocks)},
	{"semaphore", semaphoreOf(), publishedSemaphore,
		slices.Concat(plantedSemaphores, carelessSemaphores)},
	{"election", electionOf(), append(publishedElection, ensembleElections...),
		append(plantedElections, rareElection)},
	{"turn-queue", turnOf(), publishedTurnQueue, plantedTurns},
	{"barrier", barrierOf(plainBarrier{}), append(publishedBarriers, ensembleBarriers...),
		append(plantedBarriers, carelessBarrier)},
	{"double-barrier", rightDouble(), publishedDoubleBarrier, plantedDoubleBarriers},
	{"threshold-barrier", thresholdOf(), publishedThresholdBarrier, plantedThresholds},
	{"queue", builtIn("queue", "recipes.Queue"), publishedQueue,
		append(plantedQueues, sharedQueue, rareQueue, retryingQueue)},
	{"id-queue", builtIn("id-queue", "recipes.IDQueue"), nil, plantedIDQueues},
	{"priority-queue", builtIn("priority-queue", "recipes.PriorityQueue"), nil,
		plantedPriorityQueues},
	{"delay-queue", builtIn("delay-queue", "recipes.DelayQueue"), nil, plantedDelayQueues},
	{"lock-queue", builtIn("lock-queue", "recipes.LockQueue"), publishedLockQueue,
		plantedLockQueues},
	{"counter", counterOf(counter{}), append(publishedCounter, ensembleCounters...),
		append(plantedCounters, sharedCounter)},
	{"ids", idsOf(ids{}, counted), nil, append(plantedIDs, rareIDs)},
	{"value", valueOf(value{}), append(publishedValue, ensembleValues...),
		append(plantedValues, rareValue)},
	{"cache", withEventsOf(), publishedCache, plantedCaches},
	{"config", configOf(), append(publishedConfig, ensembleConfigs...),
		append(plantedConfigs, rareConfig)},
	{"membership", memberOf(), publishedMembership, append(plantedMembership, rareMembers...)},
	{"rivals", rivalsOf(rival{}), nil, plantedRivals},
	{"registry", pickingOf(), publishedRegistry, plantedRegistries},
	{"two-phase-commit", commitOf(commit{}), nil, plantedCommits},
}

// Bases are the right recipes of the kinds, by the names of these.
func Bases() map[string]scenario.Workload {
	bases := map[string]scenario.Workload{}
	for _, k := range kinds {
		bases[k.name] = k.base.Named("base")
	}
	return bases
}
