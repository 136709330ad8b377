package fuzz_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// mutants are deliberately wrong locks and queues, and the property that each
// of them breaks. A change to the harness that no longer finds one is broken.
var mutants = []struct {
	about    string
	workload scenario.Workload
	property string
}{
	{"repeats a create whose reply was lost", mutantLock(lockDefects{blindCreate: true}), linearizability.Liveness},
	{"all watch the owner's node", mutantLock(lockDefects{watchLowest: true}), linearizability.Herd},
	{"orders by whole names", mutantLock(lockDefects{sortByString: true}), linearizability.Safety},
	{"owns through a dead session's node", mutantLock(lockDefects{anySession: true}), linearizability.Safety},
	{"ignores the errors of unlock", mutantLock(lockDefects{deafUnlock: true}), linearizability.Liveness},
	{"never looks who is first", mutantLock(lockDefects{noRead: true}), linearizability.Safety},
	{"is everybody's", object.Lock(func(object.Env) object.Locker { return everybodysLock{} }).Named("mutant"), linearizability.Safety},
	{"deletes whatever is there", object.Lock(func(env object.Env) object.Locker { return &blindLock{env.Conn} }).Named("mutant"), linearizability.Safety},
	{"always says that it is lost", mutantLost(true), linearizability.Belief},
	{"never says that it is lost", mutantLost(false), linearizability.Belief},
	{"never wakes a take", mutantTake(func(q *recipes.Queue) object.Queuer { return deafQueue{q} }), linearizability.Liveness},
	{"loses what it took when cancelled", mutantTake(func(q *recipes.Queue) object.Queuer { return cancelQueue{q} }), linearizability.Delivery},
	{"herds, and claims not to", object.Lock(openHerd, object.LockClaims{MaxHerd: 1}).Named("mutant"), linearizability.Herd},
	{"offers again whatever was lost", mutantQueue(queueDefects{blindOffer: true}), linearizability.Delivery},
	{"deletes before it reads", mutantQueue(queueDefects{deleteFirst: true}), linearizability.Delivery},
	{"takes a rival's delete for its own", mutantQueue(queueDefects{deafTake: true}), linearizability.Linearizability},
	{"takes the youngest first", mutantQueue(queueDefects{lastFirst: true}), linearizability.Linearizability},
}

func mutantLock(bad lockDefects) scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker { return &seqLock{conn: env.Conn, bad: bad} }, object.LockClaims{MaxHerd: 1}).Named("mutant")
}

func mutantQueue(bad queueDefects) scenario.Workload {
	return object.Queue(func(env object.Env) object.Queuer { return &seqQueue{conn: env.Conn, bad: bad} }).Named("mutant")
}

func mutantLost(always bool) scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		return lyingLock{recipes.NewLock(env.Conn, "/lock"), always}
	}).Named("mutant")
}

func mutantTake(wrap func(*recipes.Queue) object.Queuer) scenario.Workload {
	claims := object.QueueClaims{Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"}}
	return object.Queue(func(env object.Env) object.Queuer { return wrap(recipes.NewQueue(env.Conn, "/queue")) }, claims).Named("mutant")
}

func openHerd(env object.Env) object.Locker { return recipes.NewHerdLock(env.Conn, "/lock/herd") }

// TestMutantsAreFound is the proof that the harness can fail.
func TestMutantsAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, m.workload, m.property) })
	}
}

// findsMutant fails unless a hunt finds that the workload breaks the property: one
// of several, as what the first scenarios of one have missed another finds sooner
// than its later ones.
func findsMutant(t *testing.T, w scenario.Workload, property string) {
	t.Helper()
	runs := 0
	for _, seed := range []uint64{4, 2, 1, 3, 5, 6, 7, 8} {
		for _, script := range []scenario.Script{scenario.DefaultScript, {Clients: 2, Rounds: 1}} {
			hunt := hunt.Hunt{Workload: w, Script: script, Seed: seed, Runs: 400,
				Counts: func(o *scenario.Outcome) bool { return breaks(o, property) }}
			found, err := hunt.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			runs += found.Runs
			if found.First() != nil {
				t.Logf("%s: %d scenarios, by %s", property, runs, found.Findings[0].Strategy)
				return
			}
		}
	}
	t.Errorf("%s holds in %d scenarios", property, runs)
}

// breaks reports whether a property is violated, be it with others: an element
// taken twice is a matter of delivery and of linearizability.
func breaks(o *scenario.Outcome, property string) bool {
	v, judged := o.Report.Verdict(property)
	return judged && v.Status == linearizability.Violated
}

// TestSameLockWithoutDefectSurvives is the control: what is found in the mutants
// is their defects, and nothing that they have in common.
func TestSameLockWithoutDefectSurvives(t *testing.T) {
	t.Parallel()
	s := scenario.Scenario{Workload: mutantLock(lockDefects{}), Script: scenario.Script{Clients: 2, Rounds: 2}, Seed: 1}
	sweep, err := hunt.RunSweep(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(sweep.Violations) > 0 {
		v := sweep.Violations[0]
		t.Fatalf("%d of %d points; the first: %s\n%s", sweep.Violated, sweep.Points, v.Faults[0], v.First.Story())
	}
}
