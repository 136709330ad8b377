package scenario_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// connLock is a lock of which Lock is a function of its connection.
type connLock struct {
	conn *zk.Conn
	lock func(ctx context.Context, conn *zk.Conn) error
}

func (l connLock) Lock(ctx context.Context) error { return l.lock(ctx, l.conn) }

func (l connLock) Unlock(context.Context) error { return l.conn.Delete("/lock", -1) }

// runningAway is a scenario with a lock.
func runningAway(lock func(ctx context.Context, conn *zk.Conn) error) scenario.Scenario {
	w := object.Lock(func(env object.Env) object.Locker { return connLock{env.Conn, lock} })
	return scenario.Scenario{
		Workload: w.Named("runs away"), Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
	}
}

// askForEver sends requests without end, whatever the answers are.
func askForEver(_ context.Context, conn *zk.Conn) error {
	for {
		conn.Exists("/lock/a")
		conn.Children("/")
	}
}

// checkRunaway checks that liveness is violated, by the same words in two runs. With -short there
// is one run.
func checkRunaway(t *testing.T, s scenario.Scenario, want string) {
	t.Helper()
	o := run(t, s)
	if o.Property() != linearizability.Liveness || o.Summary() != want {
		t.Errorf("property %q, summary %q; want liveness, %q", o.Property(), o.Summary(), want)
	}
	if testing.Short() {
		return
	}
	if d := o.Difference(run(t, s)); d != "" {
		t.Errorf("two runs differ: %s", d)
	}
}

func TestRequestsWithoutEndAreAVerdict(t *testing.T) {
	checkRunaway(t, runningAway(askForEver), "client b gets no further: the code under test has sent 10000 "+
		"requests since step 9 without a pause, in a cycle of 2: getChildren2 /, exists /lock/a")
}

// TestAskingAgainAndAgainIsNoRunaway while another client holds the lock for a long time.
func TestAskingAgainAndAgainIsNoRunaway(t *testing.T) {
	s := runningAway(func(ctx context.Context, conn *zk.Conn) error {
		for {
			_, err := conn.Create("/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			if err != zk.ErrNodeExists || ctx.Err() != nil {
				return err
			}
		}
	})
	for seed := range uint64(12) {
		s.Seed = seed
		fuzztest.Holds(t, s)
	}
}

func TestCallsWithoutEndAreAVerdict(t *testing.T) {
	checkRunaway(t, unseen(func(p *scenario.Player) {
		for {
			p.Do("look", "", func(context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, nil
			})
		}
	}), "client b gets no further: its script has written 10000 lines at one instant, "+
		"at step 10012")
}

func TestGoroutinesWithoutNumberAreAVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("5,000 goroutines take long under the race detector")
	}
	s := runningAway(func(ctx context.Context, _ *zk.Conn) error {
		for {
			begin(ctx)
			time.Sleep(20 * time.Millisecond)
		}
	})
	const want = "goroutines without number: at step "
	first, again := run(t, s), run(t, s)
	if first.Property() != linearizability.Liveness || !strings.HasPrefix(first.Summary(), want) ||
		!strings.Contains(first.Summary(), ", most of them begun at runaway_test.go:") {
		t.Errorf("property %q, summary %q; want liveness, %q", first.Property(),
			first.Summary(), want)
	}
	if d := first.Difference(again); d != "" {
		t.Errorf("two runs differ: %s", d)
	}
}

func begin(ctx context.Context) {
	for range 300 {
		go func() { <-ctx.Done() }()
	}
}
