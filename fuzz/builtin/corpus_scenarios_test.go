package builtin_test

import "github.com/zksim/zksim/fuzz/scenario"

// The scripts of most scenarios.
var (
	pair = scenario.Script{Clients: 2, Rounds: 1}
	trio = scenario.Script{Clients: 3, Rounds: 2}
)

// corpus are the scenarios of testdata/scenarios: the published bugs, each made small, and similar
// accidents that recipes survive. shows is a pattern that the story or the measurements must have:
// without it the accident of the name did not happen. seed is the first seed to try.
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
	}, `hits a's #\d+ create /lock/_c_G\d+-lock-`},
	{"lock-survives-expiry-while-it-waits", "lock", "recipes.Lock", 1, pair, []string{
		"expire client=a at=30ms", "expire client=b at=35ms",
	}, "zombie window: b could not know for"},
	{"queue-survives-lost-reply-to-its-multi", "queue", "recipes.Queue", 1, pair, []string{
		"drop-reply client=a op=multi request=2", "drop-reply client=b op=multi request=1",
	}, `hits b's #\d+ multi /queue/claims/G\d+`},
	{"herd-lock-survives-late-reap", "lock", "recipes.HerdLock", 1,
		scenario.Script{Clients: 3, Rounds: 1}, []string{
			"late-reap 3s client=b request=4",
		}, `hits b's #\d+ getData /lock/herd`},
	{
		"reentrant-lock-survives-lost-reply-to-its-release", "reentrant", "", 1, pair, []string{
			"drop-reply client=b op=delete request=1",
		}, `hits b's #\d+ delete /reentrant/_c_G\d+-lock-`,
	},
	{
		"rwlock-survives-lost-reply-to-its-downgrade", "rwlock", "", 1, pair, []string{
			"drop-reply client=b op=multi request=1",
		}, `hits b's #\d+ multi /rwlock/_c_G\d+-write-`,
	},
	{
		"rwlock-survives-expiry-of-a-waiting-writer", "rwlock", "", 16, pair,
		[]string{"expire client=a at=30ms"}, "expires session",
	},
	{
		"version-rwlock-survives-lost-reply-to-its-multi", "rwlock", "recipes.VersionRWLock", 1,
		pair, []string{"drop-reply client=a op=multi request=1"}, `hits a's #\d+ multi /rwlock`,
	},
	{
		"semaphore-survives-lost-reply-to-its-lease", "semaphore", "", 1, pair, []string{
			"drop-reply client=b op=create path=/semaphore/leases/* request=2",
		}, `hits b's #\d+ create /semaphore/leases/_c_G\d+-lease-`,
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
		`hits b's #\d+ setData /revocable/_c_G\d+-lock-`,
	},
	{
		"lock-queue-survives-lost-reply-to-its-acknowledgement", "lock-queue", "", 1, pair,
		[]string{"drop-reply client=b op=multi request=2"},
		`hits b's #\d+ multi /queue/items/_c_G\d+-item-`,
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
		`hits a's #\d+ create /election/_c_G\d+-lock-`,
	},
	{
		"barrier-survives-lost-reply-to-its-removal", "barrier", "", 1, pair, []string{
			"drop-reply client=a op=delete request=1",
		}, `hits a's #\d+ delete /barriers/b`,
	},
	{
		"double-barrier-survives-lost-reply-to-its-group", "double-barrier", "", 1, pair,
		[]string{"drop-reply client=b op=multi request=1"},
		`hits b's #\d+ multi /double/ready-G\d+`,
	},
	{
		"double-barrier-survives-a-missed-event-of-its-own-doing", "double-barrier", "", 1,
		scenario.Script{Clients: 1, Rounds: 1}, []string{
			"drop-request client=a op=multi request=1", "cut client=a event=1",
		}, `hits a's event NodeDataChanged`,
	},
	{
		"double-barrier-survives-expiry-inside", "double-barrier", "", 1, pair,
		[]string{"expire client=a at=60ms"}, "expires session",
	},
	{
		"threshold-barrier-survives-lost-reply-to-its-opening", "threshold-barrier", "", 1, pair,
		[]string{"drop-reply client=b op=multi request=1"}, `hits b's #\d+ multi /thresholds/t`,
	},
	{
		"threshold-barrier-survives-expiry-of-a-waiting-member", "threshold-barrier", "", 1, pair,
		[]string{"expire client=a at=25ms"}, "expires session",
	},
	{
		"two-phase-commit-survives-lost-reply-to-the-decision", "two-phase-commit", "", 1, pair,
		[]string{"drop-reply client=a op=multi request=4"},
		`hits a's #\d+ multi /transactions/t0/decision`,
	},
	{
		"two-phase-commit-survives-expiry-before-a-vote", "two-phase-commit", "", 17, pair,
		[]string{"expire client=a at=40ms"}, "expires session",
	},
	{
		"priority-queue-survives-lost-reply-to-its-removal", "priority-queue", "", 1, pair,
		[]string{"drop-reply client=b op=multi request=1"},
		`hits b's #\d+ multi /queue/claims/G\d+`,
	},
	{
		"delay-queue-survives-lost-reply-to-its-removal", "delay-queue", "", 1, pair, []string{
			"drop-reply client=b op=multi request=1",
		}, `hits b's #\d+ multi /queue/claims/G\d+`,
	},
	{
		"id-queue-survives-lost-reply-to-its-discard", "id-queue", "", 9, pair, []string{
			"drop-reply client=a op=multi request=4",
		}, `hits a's #\d+ multi /queue/claims/G\d+`,
	},
	{
		"turn-queue-survives-expiry-of-whose-turn-it-is", "turn-queue", "", 1, pair,
		[]string{"expire client=b at=30ms"}, "expires session",
	},
	{
		"counter-survives-lost-reply-to-its-multi", "counter", "", 1, pair, []string{
			"drop-reply client=a op=multi request=1",
		}, `hits a's #\d+ multi /counter`,
	},
	{
		"value-survives-lost-reply-to-its-multi", "value", "", 1, pair, []string{
			"drop-reply client=a op=multi request=1",
		}, `hits a's #\d+ multi /value`,
	},
	{
		"id-generator-survives-lost-reply-to-its-block", "id-generator", "", 1, pair, []string{
			"drop-reply client=a op=multi request=1",
		}, `hits a's #\d+ multi /ids`,
	},
	{
		"tree-cache-survives-expiry-before-it-lists", "cache", "recipes.TreeCache", 1, trio,
		[]string{"expire client=c op=getChildren2 request=1"}, `hits c's #\d+ getChildren2 /cache`,
	},
	{
		"children-cache-survives-a-lost-event", "cache", "recipes.ChildrenCache", 1, trio,
		[]string{"cut client=b event=1"}, `hits b's event NodeCreated /cache`,
	},
	{
		"node-cache-survives-a-lost-event", "cache", "recipes.NodeCache", 1, trio,
		[]string{"cut client=b event=1"}, `hits b's event NodeCreated /cache`,
	},
	{
		"config-survives-lost-reply-to-its-multi", "config", "", 1, pair, []string{
			"drop-reply client=a op=multi request=2",
		}, `hits a's #\d+ multi /config/keys/y`,
	},
	{
		"group-survives-late-reap-of-a-member", "membership", "recipes.Group", 1, pair,
		[]string{"late-reap 3s client=a at=40ms"}, "late-reap",
	},
	{
		"persistent-node-survives-lost-reply-to-its-create", "membership", "recipes.PersistentNode",
		1, pair, []string{"drop-reply client=b op=create request=3"},
		`hits b's #\d+ create /members/x`,
	},
	{
		"registry-survives-expiry-of-a-registration", "registry", "", 1, pair,
		[]string{"expire client=a at=50ms"}, "expires session",
	},
}
