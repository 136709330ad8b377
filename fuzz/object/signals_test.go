package object_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
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
