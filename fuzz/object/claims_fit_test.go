package object_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// framedQueue stores more than the element.
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

// TestClaimsThatDoNotFitAreInputErrors, and no verdicts.
func TestClaimsThatDoNotFitAreInputErrors(t *testing.T) {
	for _, c := range []struct {
		workload scenario.Workload
		want     string
	}{
		{object.Lock(func(env object.Env) object.Locker {
			return recipes.NewLock(env.Conn, "/other")
		}).Named("elsewhere"), "no ephemeral znode was ever created at or under /lock; set LockClaims.Path"},
		{object.Queue(openFramed, object.QueueClaims{
			Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
		}).Named("framed"), "QueueClaims.Element"},
		{object.Queue(func(env object.Env) object.Queuer {
			return recipes.NewQueue(env.Conn, "/other")
		}).Named("elsewhere"), "was ever made under /queue as its child (one was at /other/"},
		{object.Counter(func(env object.Env) object.Counterer {
			return recipes.NewCounter(env.Conn, "/elsewhere")
		}).Named("elsewhere"), "CounterClaims.Path"},
		{object.Value(func(env object.Env) object.Valuer {
			return recipes.NewSharedValue(env.Conn, "/elsewhere")
		}).Named("elsewhere"), "ValueClaims.Path"},
		{object.TwoPhase(func(env object.Env) object.TwoPhaser {
			return commitElsewhere{recipes.NewTwoPhaseCommit(env.Conn, "/elsewhere")}
		}).Named("elsewhere"), "no znode was ever created under /transactions; set TwoPhaseClaims.Path"},
	} {
		_, err := scenario.Scenario{Workload: c.workload, Script: scenario.DefaultScript, Seed: 1}.Run()
		if !errors.Is(err, scenario.ErrClaims) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v; want one with %q", err, c.want)
		}
	}
}

func TestElementReadsFramedData(t *testing.T) {
	claims := object.QueueClaims{Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
		Element: func(data string) (string, bool) { return strings.CutPrefix(data, "v1:") }}
	w := object.Queue(openFramed, claims).Named("framed")
	if o := run(t, scenario.Scenario{Workload: w, Script: scenario.DefaultScript, Seed: 1}); o.Status() != linearizability.OK {
		t.Error(o.Story())
	}
}

// TestLongScriptsAreNotJudgedHalfway: what takes long is no violation.
func TestLongScriptsAreNotJudgedHalfway(t *testing.T) {
	for _, s := range []scenario.Scenario{
		{Script: scenario.Script{Clients: 26, Rounds: 4}, Seed: 2},
		{Script: scenario.Script{Clients: 1, Rounds: 200}, Seed: 4},
		{Script: scenario.Script{Clients: 20, Rounds: 10}, Seed: 1},
	} {
		s.Workload = builtin(t, "lock", "")
		if o := run(t, s); o.Status() != linearizability.OK {
			t.Errorf("%s: %s, %s", s, o.Status(), o.Summary())
		}
	}
}

// commitElsewhere is a two-phase commit that is not where its judge looks.
type commitElsewhere struct{ *recipes.TwoPhaseCommit }

func (c commitElsewhere) Begin(ctx context.Context, sites []string, deadline time.Time) error {
	return c.TwoPhaseCommit.Begin(ctx, recipes.Transaction{Sites: sites, Deadline: deadline})
}

func (c commitElsewhere) Await(ctx context.Context) (bool, error) {
	d, err := c.TwoPhaseCommit.Await(ctx)
	return d.Commit, err
}
