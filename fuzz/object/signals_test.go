package object_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// askingLock is a right re-entrant lock. An inner Unlock asks the server until there is an answer.
type askingLock struct {
	*recipes.ReentrantLock
	conn  *zk.Conn
	depth int
}

func (l *askingLock) Lock(ctx context.Context) error {
	err := l.ReentrantLock.Lock(ctx)
	if err == nil {
		l.depth++
	}
	return err
}

func (l *askingLock) Unlock(ctx context.Context) error {
	for l.depth > 1 && ctx.Err() == nil {
		if _, _, err := l.conn.Exists("/probe"); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.depth = max(0, l.depth-1)
	return l.ReentrantLock.Unlock(ctx)
}

// lateSemaphore is a right semaphore with leases that signal their loss late, but not too late.
type lateSemaphore struct{ *recipes.Semaphore }

type lateLease struct {
	object.Lease
	lost, released chan struct{}
}

func (s lateSemaphore) Acquire(ctx context.Context) (object.Lease, error) {
	lease, err := s.Semaphore.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	l := &lateLease{lease, make(chan struct{}), make(chan struct{})}
	go func() {
		select {
		case <-lease.Lost():
			time.Sleep(250 * time.Millisecond)
			close(l.lost)
		case <-l.released:
		}
	}()
	return l, nil
}

func (l *lateLease) Lost() <-chan struct{} { return l.lost }

func (l *lateLease) Release(ctx context.Context) error {
	select {
	case <-l.released:
	default:
		close(l.released)
	}
	return l.Lease.Release(ctx)
}

// TestSignalsAreOfTheirHold: a signal during an inner Unlock counts, and the signal for the hold of
// one goroutine does not count for another goroutine.
func TestSignalsAreOfTheirHold(t *testing.T) {
	t.Parallel()
	asking := object.Reentrant(func(env object.Env) object.Locker {
		return &askingLock{
			ReentrantLock: recipes.NewReentrantLock(env.Conn, "/reentrant",
				recipes.SessionTimeout(4*time.Second)), conn: env.Conn,
		}
	}, object.LockClaims{Path: "/reentrant"}).Named("asking")
	late := object.Semaphore(func(env object.Env) object.Acquirer {
		return lateSemaphore{
			recipes.NewSemaphore(
				env.InTurn(), "/semaphore", 2, recipes.SessionTimeout(4*time.Second),
			),
		}
	}, object.SemaphoreClaims{Nodes: "/semaphore/leases", LockClaims: object.LockClaims{
		Path: "/semaphore", LeavesAtRest: []string{"/semaphore/leases", "/semaphore/lock"},
	}}).Named("late")
	for seed := range uint64(20) {
		scenarios := []scenario.Scenario{
			{Workload: asking, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: seed,
				Plan: plan(t, "refuse 8s client=a op=exists path=/probe request=1",
					"refuse 3s client=a op=exists path=/probe request=2")},
			{Workload: asking, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: seed,
				Plan: plan(t, "refuse 8s client=a op=exists path=/probe request=2",
					"refuse 3s client=a op=exists path=/probe request=3")},
			{
				Workload: late, Script: scenario.Script{Clients: 1, Rounds: 8, Goroutines: 2},
				Seed: seed,
			},
		}
		for i := range 4 {
			scenarios[2].Plan = append(scenarios[2].Plan, fault.Fault{
				Kind: fault.Expire, Client: "a", Request: 5 + int(seed*7)%11 + i*17,
			})
		}
		for _, s := range scenarios {
			fuzztest.Holds(t, s)
		}
	}
}

// tellingLock is a lock with a signal of loss: it watches its znode, and asks the server for
// something else before it returns. It tells of a loss after a time, or never if that is negative.
type tellingLock struct {
	conn  *zk.Conn
	path  string
	after time.Duration
	lost  chan struct{}
}

func (l *tellingLock) Lock(context.Context) error {
	_, err := l.conn.Create(l.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if err != nil {
		return err
	}
	_, _, gone, err := l.conn.ExistsW(l.path)
	if err != nil {
		return err
	}
	lost := make(chan struct{})
	l.lost = lost
	go func() {
		if <-gone; l.after >= 0 {
			time.Sleep(l.after)
			close(lost)
		}
	}()
	_, _, _ = l.conn.Get("/settings") // the answer does not matter
	return nil
}

func (l *tellingLock) Unlock(context.Context) error {
	if err := l.conn.Delete(l.path, -1); !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return nil
}

func (l *tellingLock) Lost() <-chan struct{} { return l.lost }

// TestSignalsInTime: a signal in the moment of the grant is no grant of nothing, and a lease has
// the time of a session to tell that somebody ended its session.
func TestSignalsInTime(t *testing.T) {
	t.Parallel()
	early := plan(t, "pause 100ms client=a op=getData request=1", "expire client=a at=18ms")
	late := plan(t, "expire client=a at=25ms")
	for _, c := range []struct {
		after  time.Duration
		claims object.LockClaims
		plan   []fault.Fault
		bad    bool
	}{
		{0, object.LockClaims{}, early, false},
		{time.Millisecond, object.LockClaims{}, early, false}, // still during the call
		{-1, object.LockClaims{}, early, true},
		{200 * time.Millisecond, object.LockClaims{}, early, true},
		{1500 * time.Millisecond, object.LockClaims{}, late, true},
		{1500 * time.Millisecond, object.LockClaims{Lease: true}, late, false},
		{6 * time.Second, object.LockClaims{Lease: true}, late, true},
	} {
		w := object.Lock(func(env object.Env) object.Locker {
			return &tellingLock{conn: env.Conn, path: env.Path, after: c.after}
		}, c.claims).Named("telling")
		bad, story := 0, ""
		for seed := range uint64(40) {
			out := fuzztest.Run(t, scenario.Scenario{Workload: w, Seed: seed, Plan: c.plan,
				Script: scenario.Script{Clients: 1, Rounds: 1}})
			if out.Status() != linearizability.OK {
				bad, story = bad+1, out.Story()
			}
		}
		if (bad > 0) != c.bad {
			t.Errorf("%v %+v: %d violations; expected some: %v\n%s", c.after, c.claims, bad, c.bad,
				story)
		}
	}
}
