package fuzz_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// blindLock is one znode, which unlock deletes by its name until it hears that it
// is gone, be it another's by then.
type blindLock struct{ c *zk.Conn }

func (l *blindLock) Lock(ctx context.Context) error {
	for ctx.Err() == nil {
		l.c.Create("/lock", nil, 0, openACL)
		_, err := l.c.Create("/lock/x", nil, zk.FlagEphemeral, openACL)
		if err == nil {
			return nil
		}
		_, st, gone, err := l.c.GetW("/lock/x")
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if st.EphemeralOwner == l.c.SessionID() {
			return nil
		}
		select {
		case <-gone:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}
func (l *blindLock) Unlock(ctx context.Context) error {
	for ctx.Err() == nil {
		err := l.c.Delete("/lock/x", -1)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		time.Sleep(30 * time.Millisecond)
	}
	return ctx.Err()
}

// lyingLock says always or never that it is lost.
type lyingLock struct {
	object.Locker
	always bool
}

func (l lyingLock) Lost() <-chan struct{} {
	c := make(chan struct{})
	if l.always {
		close(c)
	}
	return c
}

// deafQueue does not see what is offered while it waits.
type deafQueue struct{ *recipes.Queue }

func (q deafQueue) Take(ctx context.Context) ([]byte, error) {
	data, ok, err := q.Poll(ctx)
	if err != nil || ok {
		return data, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// cancelQueue looks at its context when it has taken an element.
type cancelQueue struct{ *recipes.Queue }

func (q cancelQueue) Take(ctx context.Context) ([]byte, error) {
	data, err := q.Queue.Take(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return data, err
}

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

// TestClaimsThatDoNotFitAreInputErrors, and no verdicts.
func TestClaimsThatDoNotFitAreInputErrors(t *testing.T) {
	for _, c := range []struct {
		workload scenario.Workload
		want     string
	}{
		{object.Lock(func(env object.Env) object.Locker {
			return recipes.NewLock(env.Conn, "/other")
		}).Named("elsewhere"), "no ephemeral znode was ever created at or under /lock; set LockClaims.Path"},
		{mutantTake(func(q *recipes.Queue) object.Queuer { return framedQueue{q} }), "QueueClaims.Element"},
		{object.Queue(func(env object.Env) object.Queuer {
			return recipes.NewQueue(env.Conn, "/other")
		}).Named("elsewhere"), "was ever made under /queue as its child (one was at /other/"},
	} {
		_, err := scenario.Scenario{Workload: c.workload, Script: scenario.DefaultScript, Seed: 1}.Run()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v; want one with %q", err, c.want)
		}
	}
}

func TestElementReadsFramedData(t *testing.T) {
	claims := object.QueueClaims{Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
		Element: func(data string) (string, bool) { return strings.CutPrefix(data, "v1:") }}
	w := object.Queue(func(env object.Env) object.Queuer { return framedQueue{recipes.NewQueue(env.Conn, "/queue")} }, claims).Named("framed")
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
