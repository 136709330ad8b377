package hunt_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// stubborn is a lock that asks again and again, without a pause, and that repeats its release for
// ever once its node is gone.
type stubborn struct {
	conn *zk.Conn
}

func (l stubborn) Lock(ctx context.Context) error {
	for ctx.Err() == nil {
		_, err := l.conn.Create("/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err == nil {
			return nil
		}
	}
	return ctx.Err()
}

func (l stubborn) Unlock(ctx context.Context) error {
	for {
		if err := l.conn.Delete("/lock", -1); err == nil {
			return nil
		}
	}
}

// TestRunawaysEnd: a scenario in which requests are repeated for ever ends soon, also while it is
// made small.
func TestRunawaysEnd(t *testing.T) {
	w := object.Lock(func(env object.Env) object.Locker { return stubborn{env.Conn} })
	o := run(t, scenario.Scenario{
		Workload: w.Named("stubborn"), Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
		Plan: plan(t, "drop-reply client=b op=create request=1", "delay 1s client=a request=1"),
	})
	small, _, err := hunt.Minimize(t.Context(), o)
	check.OK(t, err)
	const want = ` gets no further: the code under test has sent 1\d000 requests since step \d+ without a pause, ` +
		`in a cycle of 1: create /lock$`
	if !hunt.Alike(o, small) || !regexp.MustCompile(want).MatchString(small.Summary()) {
		t.Errorf("%s, %v: %s; want %q", small.Scenario, small.Scenario.Plan, small.Summary(), want)
	}
}
