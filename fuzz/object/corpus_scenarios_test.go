package object_test

import "github.com/zksim/zksim/fuzz/scenario"

// The scripts of most scenarios.
var (
	pair = scenario.Script{Clients: 2, Rounds: 1}
	trio = scenario.Script{Clients: 3, Rounds: 2}
)

// corpus are the scenarios of testdata/scenarios: the published bugs, each made small, and similar
// accidents that recipes survive. shows is a part of the story or of the measurements: without it
// the run does not have the accident of the name.
var corpus = []struct {
	name, workload, impl string
	seed                 uint64
	script               scenario.Script
	faults               []string
	shows                string
}{
	{
		"zk-lock-waits-for-itself", "lock", "zk.Lock", 1, scenario.Script{Clients: 1, Rounds: 1},
		[]string{"drop-request client=a op=getChildren2 request=1"},
		"which belongs to a's own session",
	},
	{
		"apache-queue-loses-an-element", "queue", "recipes.ApacheQueue", 1,
		scenario.Script{Clients: 1, Rounds: 1}, []string{
			"drop-reply client=a op=delete request=1",
		}, "is lost",
	},
	{"lock-survives-lost-connections", "lock", "recipes.Lock", 1, trio, []string{
		"drop-request client=a op=getChildren2 request=1",
		"drop-reply client=b op=create request=1", "late-reap 3s client=c op=getData request=1",
	}, "is told: session-expired"},
	{"queue-survives-lost-replies", "queue", "recipes.Queue", 1, trio, []string{
		"drop-reply client=a op=multi request=1", "drop-reply client=b op=multi request=2",
		"expire client=c request=5",
	}, "expires session"},
	{"lock-survives-lost-reply-to-its-create", "lock", "recipes.Lock", 1, pair, []string{
		"drop-reply client=a op=create request=1",
	}, "hits a's #1 create /lock/_c_G2-lock-"},
	{"lock-survives-expiry-while-it-waits", "lock", "recipes.Lock", 1, pair, []string{
		"expire client=a at=30ms", "expire client=b at=35ms",
	}, "zombie window: b could not know for"},
	{"queue-survives-lost-reply-to-its-multi", "queue", "recipes.Queue", 1, pair, []string{
		"drop-reply client=a op=multi request=2", "drop-reply client=b op=multi request=1",
	}, "hits b's #11 multi /queue/claims/G3"},
	{"herd-lock-survives-late-reap", "lock", "recipes.HerdLock", 1,
		scenario.Script{Clients: 3, Rounds: 1}, []string{
			"late-reap 3s client=b request=4",
		}, "hits b's #4 getData /lock/herd"},
	{
		"reentrant-lock-survives-lost-reply-to-its-release", "reentrant", "", 1, pair, []string{
			"drop-reply client=b op=delete request=1",
		}, "hits b's #6 delete /reentrant/_c_G1-lock-",
	},
	{
		"rwlock-survives-lost-reply-to-its-downgrade", "rwlock", "", 1, pair, []string{
			"drop-reply client=b op=multi request=1",
		}, "hits b's #6 multi /rwlock/_c_G1-write-",
	},
	{
		"rwlock-survives-expiry-of-a-waiting-writer", "rwlock", "", 16, pair,
		[]string{"expire client=a at=30ms"}, "expires session",
	},
	{
		"version-rwlock-survives-lost-reply-to-its-multi", "rwlock", "recipes.VersionRWLock", 1,
		pair, []string{"drop-reply client=a op=multi request=1"}, "hits a's #3 multi /rwlock",
	},
	{
		"semaphore-survives-lost-reply-to-its-lease", "semaphore", "", 1, pair, []string{
			"drop-reply client=b op=create path=/semaphore/leases/* request=2",
		}, "hits b's #12 create /semaphore/leases/_c_G3-lease-",
	},
	{
		"semaphore-survives-expiry-of-whose-turn-it-is", "semaphore", "", 2, pair,
		[]string{"expire client=b at=29ms"}, "expires session",
	},
	{
		"multi-lock-survives-expiry-between-its-locks", "multi-lock", "", 1, pair,
		[]string{"expire client=b at=45ms"}, "expires session",
	},
	{
		"revocable-lock-survives-lost-reply-to-the-question", "revocable", "", 2, pair,
		[]string{"drop-reply client=b op=setData request=1"},
		"hits b's #10 setData /revocable/_c_G1-lock-",
	},
	{
		"lock-queue-survives-lost-reply-to-its-acknowledgement", "lock-queue", "", 1, pair,
		[]string{"drop-reply client=b op=multi request=2"},
		"hits b's #13 multi /queue/items/_c_G1-item-",
	},
	{
		"lock-queue-survives-expiry-of-a-consumer", "lock-queue", "", 1, pair,
		[]string{"expire client=b at=60ms"}, "expires session",
	},
	{
		"leader-latch-survives-late-reap-of-the-leader", "election", "recipes.LeaderLatch", 1, pair,
		[]string{"late-reap 3s client=a at=30ms"}, "late-reap",
	},
	{
		"leader-selector-survives-lost-reply-to-its-candidacy", "election",
		"recipes.LeaderSelector", 1, pair, []string{"drop-reply client=a op=create request=1"},
		"hits a's #3 create /election/_c_G2-lock-",
	},
	{
		"barrier-survives-lost-reply-to-its-removal", "barrier", "", 1, pair, []string{
			"drop-reply client=a op=delete request=1",
		}, "hits a's #10 delete /barriers/b",
	},
	{
		"double-barrier-survives-lost-reply-to-its-group", "double-barrier", "", 1, pair,
		[]string{"drop-reply client=b op=multi request=1"}, "hits b's #6 multi /double/ready-G3",
	},
	{
		"double-barrier-survives-a-missed-event-of-its-own-doing", "double-barrier", "", 1,
		scenario.Script{Clients: 1, Rounds: 1}, []string{
			"drop-request client=a op=multi request=1", "cut client=a event=1",
		}, "hits a's event NodeDataChanged",
	},
	{
		"double-barrier-survives-expiry-inside", "double-barrier", "", 1, pair,
		[]string{"expire client=a at=60ms"}, "expires session",
	},
	{
		"threshold-barrier-survives-lost-reply-to-its-opening", "threshold-barrier", "", 1, pair,
		[]string{"drop-reply client=b op=multi request=1"}, "hits b's #11 multi /thresholds/t",
	},
	{
		"threshold-barrier-survives-expiry-of-a-waiting-member", "threshold-barrier", "", 1, pair,
		[]string{"expire client=a at=25ms"}, "expires session",
	},
	{
		"two-phase-commit-survives-lost-reply-to-the-decision", "two-phase-commit", "", 1, pair,
		[]string{"drop-reply client=a op=multi request=4"},
		"hits a's #19 multi /transactions/t0/decision",
	},
	{
		"two-phase-commit-survives-expiry-before-a-vote", "two-phase-commit", "", 17, pair,
		[]string{"expire client=a at=40ms"}, "expires session",
	},
	{
		"priority-queue-survives-lost-reply-to-its-removal", "priority-queue", "", 1, pair,
		[]string{"drop-reply client=b op=multi request=1"}, "hits b's #11 multi /queue/claims/G3",
	},
	{
		"delay-queue-survives-lost-reply-to-its-removal", "delay-queue", "", 1, pair, []string{
			"drop-reply client=b op=multi request=1",
		}, "hits b's #11 multi /queue/claims/G3",
	},
	{
		"id-queue-survives-lost-reply-to-its-discard", "id-queue", "", 9, pair, []string{
			"drop-reply client=a op=multi request=4",
		}, "hits a's #16 multi /queue/claims/G4",
	},
	{
		"turn-queue-survives-expiry-of-whose-turn-it-is", "turn-queue", "", 1, pair,
		[]string{"expire client=b at=30ms"}, "expires session",
	},
	{
		"counter-survives-lost-reply-to-its-multi", "counter", "", 1, pair, []string{
			"drop-reply client=a op=multi request=1",
		}, "hits a's #2 multi /counter",
	},
	{
		"value-survives-lost-reply-to-its-multi", "value", "", 1, pair, []string{
			"drop-reply client=a op=multi request=1",
		}, "hits a's #5 multi /value",
	},
	{
		"id-generator-survives-lost-reply-to-its-block", "id-generator", "", 1, pair, []string{
			"drop-reply client=a op=multi request=1",
		}, "hits a's #2 multi /ids",
	},
	{
		"tree-cache-survives-expiry-before-it-lists", "cache", "recipes.TreeCache", 1, trio,
		[]string{"expire client=c op=getChildren2 request=1"}, "hits c's #7 getChildren2 /cache",
	},
	{
		"children-cache-survives-a-lost-event", "cache", "recipes.ChildrenCache", 1, trio,
		[]string{"cut client=b event=1"}, "hits b's event NodeCreated /cache",
	},
	{
		"node-cache-survives-a-lost-event", "cache", "recipes.NodeCache", 1, trio,
		[]string{"cut client=b event=1"}, "hits b's event NodeCreated /cache",
	},
	{
		"config-survives-lost-reply-to-its-multi", "config", "", 1, pair, []string{
			"drop-reply client=a op=multi request=2",
		}, "hits a's #10 multi /config/keys/y",
	},
	{
		"group-survives-late-reap-of-a-member", "membership", "recipes.Group", 1, pair,
		[]string{"late-reap 3s client=a at=40ms"}, "late-reap",
	},
	{
		"persistent-node-survives-lost-reply-to-its-create", "membership", "recipes.PersistentNode",
		1, pair, []string{"drop-reply client=b op=create request=3"},
		"hits b's #4 create /members/x",
	},
	{
		"registry-survives-expiry-of-a-registration", "registry", "", 1, pair,
		[]string{"expire client=a at=50ms"}, "expires session",
	},
}
