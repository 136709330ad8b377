package object_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// unplaced are right objects that ignore Env.Path, or have no claims for their znodes.
var unplaced = []struct {
	about    string
	workload scenario.Workload
	want     string
}{
	{"lock", object.Lock(func(env object.Env) object.Locker {
		return recipes.NewLock(env.Conn, "/other")
	}), "lock succeeded, but wrote to /other and not to /lock, its Env.Path"},
	{"reentrant", object.Reentrant(func(env object.Env) object.Locker {
		return recipes.NewReentrantLock(env.Conn, "/other")
	}), "/reentrant, its Env.Path"},
	{"rwlock", object.RWLock(func(env object.Env) object.RWLocker {
		return recipes.NewRWLock(env.Conn, "/other")
	}), "/rwlock, its Env.Path"},
	{"queue", object.Queue(func(env object.Env) object.Queuer {
		return recipes.NewQueue(env.Conn, "/other")
	}), "no child of /queue has an offered element as its data (one is at /other/"},
	{"queue deeper", object.Queue(func(env object.Env) object.Queuer {
		return classic.NewApacheQueue(env.Conn, env.Path+"/mine", zk.WorldACL(zk.PermAll))
	}), "(one is at /queue/mine/"},
	{"queue with items", object.Queue(func(env object.Env) object.Queuer {
		return recipes.NewQueue(env.Conn, env.Path)
	}), "set QueueClaims.Items to the directory of the elements"},
	{"queue with framed data", object.Queue(openFramed, object.QueueClaims{
		Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
	}), "or QueueClaims.Element to read their data"},
	{"priority queue", object.PriorityQueue(func(env object.Env) object.PriorityQueuer {
		return recipes.NewPriorityQueue(env.Conn, "/queue/mine")
	}), "set QueueClaims.Items"},
	{"barrier", object.Barrier(func(env object.Env) object.Barrierer {
		return recipes.NewBarrier(env.Conn, "/barrier")
	}), "wrote to /barrier and not to /barriers/b, its Env.Path"},
	{"threshold barrier", object.ThresholdBarrier(func(env object.Env) object.ThresholdBarrierer {
		return recipes.NewThresholdBarrier(env.Conn, "/other")
	}), "/thresholds/t, its Env.Path"},
	{"double barrier", object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return recipes.NewDoubleBarrier(env.Conn, "/other", env.Size)
	}), "/double, its Env.Path"},
	{"election", object.Election(func(env object.Env) object.Elector {
		return lockElector{recipes.NewLock(env.Conn, "/other")}
	}), "/election, its Env.Path"},
	{"ids", object.IDGenerator(func(env object.Env) object.IDSource {
		return recipes.NewIDGenerator(env.InTurn(), "/other", 2)
	}), "/ids, its Env.Path"},
	{"counter", object.Counter(func(env object.Env) object.Counterer {
		return recipes.NewCounter(env.Conn, "/other")
	}), "/counter, its Env.Path"},
	{"value", object.Value(func(env object.Env) object.Valuer {
		return builtin.SharedValue{SharedValue: recipes.NewSharedValue(env.Conn, "/other")}
	}), "/value, its Env.Path"},
	{"two phases", object.TwoPhase(func(env object.Env) object.TwoPhaser {
		return commitElsewhere{recipes.NewTwoPhaseCommit(env.Conn, "/other")}
	}), "/transactions, its Env.Path"},
}

// TestCodeMustUseItsPath: a run of code that ignores its path ends with an error and has no
// verdict.
func TestCodeMustUseItsPath(t *testing.T) {
	for _, c := range unplaced {
		_, err := scenario.Scenario{
			Workload: c.workload, Script: scenario.DefaultScript, Seed: 1,
		}.Run()
		check.Contains(t, fmt.Sprint(err), c.want, "%s", c.about)
	}
	claimed := object.Lock(func(env object.Env) object.Locker {
		return recipes.NewLock(env.Conn, "/other")
	}, object.LockClaims{Path: "/other"})
	fuzztest.Holds(t, scenario.Scenario{
		Workload: claimed, Script: scenario.DefaultScript, Seed: 1,
	})
}

// framedQueue stores a prefix with each element.
type framedQueue struct{ *recipes.Queue }

func (q framedQueue) Offer(ctx context.Context, data []byte) error {
	return q.Queue.Offer(ctx, append([]byte("v1:"), data...))
}

func (q framedQueue) Take(ctx context.Context) ([]byte, error) {
	data, err := q.Queue.Take(ctx)
	return []byte(strings.TrimPrefix(string(data), "v1:")), err
}

func (q framedQueue) Poll(ctx context.Context) ([]byte, bool, error) {
	data, ok, err := q.Queue.Poll(ctx)
	return []byte(strings.TrimPrefix(string(data), "v1:")), ok, err
}

func (q framedQueue) Peek(ctx context.Context) ([]byte, bool, error) {
	data, ok, err := q.Queue.Peek(ctx)
	return []byte(strings.TrimPrefix(string(data), "v1:")), ok, err
}

func openFramed(env object.Env) object.Queuer {
	return framedQueue{recipes.NewQueue(env.Conn, "/queue")}
}

func TestElementReadsFramedData(t *testing.T) {
	w := object.Queue(openFramed, object.QueueClaims{
		Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
		Element: func(data string) (string, bool) { return strings.CutPrefix(data, "v1:") },
	})
	fuzztest.Holds(t, scenario.Scenario{Workload: w, Script: scenario.DefaultScript, Seed: 1})
}

// TestLongScriptsAreNotJudgedHalfway: a script that takes long is no violation.
func TestLongScriptsAreNotJudgedHalfway(t *testing.T) {
	for _, s := range []scenario.Scenario{
		{Script: scenario.Script{Clients: 26, Rounds: 4}, Seed: 2},
		{Script: scenario.Script{Clients: 1, Rounds: 200}, Seed: 4},
		{Script: scenario.Script{Clients: 20, Rounds: 10}, Seed: 1},
	} {
		s.Workload = fuzztest.Builtin(t, "lock", "")
		fuzztest.Holds(t, s)
	}
}

// commitElsewhere is a two-phase commit that ignores Env.Path.
type commitElsewhere struct{ *recipes.TwoPhaseCommit }

func (c commitElsewhere) Begin(ctx context.Context, sites []string, deadline time.Time) error {
	return c.TwoPhaseCommit.Begin(ctx, recipes.Transaction{Sites: sites, Deadline: deadline})
}

func (c commitElsewhere) Await(ctx context.Context) (bool, error) {
	d, err := c.TwoPhaseCommit.Await(ctx)
	return d.Commit, err
}

// lockElector elects by a lock.
type lockElector struct{ object.Locker }

func (l lockElector) Lead(ctx context.Context) error   { return l.Lock(ctx) }
func (l lockElector) Resign(ctx context.Context) error { return l.Unlock(ctx) }
func (l lockElector) Close(ctx context.Context) error  { return l.Unlock(ctx) }
