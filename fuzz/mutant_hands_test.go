package fuzz_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// otherMutants are wrong in ways that only several hands, or a rough script, show.
var otherMutants = []struct {
	about    string
	workload scenario.Workload
	script   scenario.Script
	property string
}{
	{"wakes one of those who wait", object.Queue(func(env object.Env) object.Queuer {
		conn := env.InTurn()
		return &narrowQueue{Queue: recipes.NewQueue(conn, "/queue"), conn: conn}
	}, ourQueue).Named("mutant"),
		scenario.Script{Clients: 2, Rounds: 2, Goroutines: 3}, linearizability.Liveness},
	{"keeps the state of a call in the handle", object.Counter(func(env object.Env) object.Counterer {
		return &forgetfulCounter{Counter: recipes.NewCounter(env.InTurn(), "/counter")}
	}, object.CounterClaims{Definite: true}).Named("mutant"), scenario.Script{Clients: 2, Rounds: 2, Goroutines: 3}, linearizability.Delivery},
	{"closes without giving back", roughLock(func(l *recipes.Lock) object.Locker { return keptLock{l} }), rough, linearizability.Liveness},
	{"closes beside its calls", object.Barrier(func(env object.Env) object.Barrierer {
		return openBarrier{recipes.NewBarrier(env.InTurn(), "/barriers/b")}
	}).Named("mutant"), rough, linearizability.Liveness},
	{"does not unlock for who has gone", roughLock(func(l *recipes.Lock) object.Locker { return goneLock{l} }), rough, linearizability.Liveness},
	{"does not release for who has gone", roughSemaphore(func(l *recipes.Lease) object.Lease { return goneLease{l} }, false), rough, linearizability.Liveness},
	{"tries without looking", roughLock(func(l *recipes.Lock) object.Locker { return eagerLock{l} }), rough, linearizability.Safety},
	{"tries, and keeps what it did not get", roughSemaphore(func(l *recipes.Lease) object.Lease { return l }, true), rough, linearizability.Orphans},
}

var ourQueue = object.QueueClaims{Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"}}

var rough = scenario.Script{Clients: 3, Rounds: 2, Careless: true}

// TestMutantsOfSeveralHandsAreFound: those, and by nothing else.
func TestMutantsOfSeveralHandsAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range otherMutants {
		t.Run(m.about, func(t *testing.T) {
			plain := m.script
			plain.Goroutines, plain.Careless = 1, false
			if o := searchIn(t, m.workload, plain, 20); o != nil {
				t.Errorf("found without:\n%s", o.Story())
			}
			if o := searchIn(t, m.workload, m.script, 200); o == nil || !breaks(o, m.property) {
				t.Errorf("%s holds", m.property)
			}
		})
	}
}

// searchIn returns the first violation of seeds without faults, or nil.
func searchIn(t *testing.T, w scenario.Workload, script scenario.Script, runs uint64) *scenario.Outcome {
	t.Helper()
	for seed := range runs {
		if o := run(t, scenario.Scenario{Workload: w, Script: script, Seed: seed}); o.Status() == linearizability.Violated {
			return o
		}
	}
	return nil
}

func roughLock(wrap func(*recipes.Lock) object.Locker) scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker { return wrap(recipes.NewLock(env.InTurn(), "/lock")) }).Named("mutant")
}

func roughSemaphore(wrap func(*recipes.Lease) object.Lease, greedy bool) scenario.Workload {
	claims := object.SemaphoreClaims{LockClaims: object.LockClaims{LeavesAtRest: []string{"/semaphore/leases", "/semaphore/lock"}}, Nodes: "/semaphore/leases"}
	return object.Semaphore(func(env object.Env) object.Acquirer {
		return wrappedSemaphore{recipes.NewSemaphore(env.InTurn(), "/semaphore", 2), wrap, greedy}
	}, claims).Named("mutant")
}

// narrowQueue has one watch for all who wait, and tells one of them.
type narrowQueue struct {
	*recipes.Queue
	conn recipes.Conn

	mu   sync.Mutex
	news chan struct{} // of the watch that is set; nil: none
}

func (q *narrowQueue) Take(ctx context.Context) ([]byte, error) {
	for {
		news := q.watch()
		if data, ok, err := q.Poll(ctx); err != nil || ok {
			return data, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// watch returns what is told once when the elements change.
func (q *narrowQueue) watch() <-chan struct{} {
	q.mu.Lock()
	if q.news != nil {
		defer q.mu.Unlock()
		return q.news
	}
	news := make(chan struct{}, 1)
	q.news = news
	q.mu.Unlock()
	_, _, event, err := q.conn.ChildrenW("/queue/items")
	go func() {
		if err == nil {
			<-event
		} else {
			time.Sleep(10 * time.Millisecond)
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.news = nil
		news <- struct{}{}
	}()
	return news
}

// forgetfulCounter adds what was to be added last when it comes to it.
type forgetfulCounter struct {
	*recipes.Counter
	delta atomic.Int64
}

func (c *forgetfulCounter) Add(ctx context.Context, delta int64) (int64, error) {
	c.delta.Store(delta)
	if _, err := c.Get(ctx); err != nil {
		return 0, err
	}
	return c.Counter.Add(ctx, c.delta.Load())
}

// lock is what the locks below have of recipes.Lock.
type lock interface {
	object.Locker
	TryLock(ctx context.Context) (bool, error)
	Lost() <-chan struct{}
	Close(ctx context.Context) error
}

// keptLock says that it is closed and holds on to the lock.
type keptLock struct{ lock }

func (keptLock) Close(context.Context) error { return nil }

// openBarrier goes on after Close.
type openBarrier struct{ *recipes.Barrier }

func (b openBarrier) Close(context.Context) error { return nil }

// goneLock does nothing for a caller who has gone.
type goneLock struct{ lock }

func (l goneLock) Unlock(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.lock.Unlock(ctx)
}

// goneLease does nothing for a caller who has gone.
type goneLease struct{ *recipes.Lease }

func (l goneLease) Release(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.Lease.Release(ctx)
}

// eagerLock is owned by whoever tries.
type eagerLock struct{ lock }

func (l eagerLock) TryLock(context.Context) (bool, error) { return true, nil }

// wrappedSemaphore hands out other leases. A greedy one denies and keeps those that
// it has got by trying.
type wrappedSemaphore struct {
	*recipes.Semaphore
	wrap   func(*recipes.Lease) object.Lease
	greedy bool
}

func (s wrappedSemaphore) Acquire(ctx context.Context) (object.Lease, error) {
	lease, err := s.Semaphore.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return s.wrap(lease), nil
}

func (s wrappedSemaphore) TryAcquire(ctx context.Context) (object.Lease, bool, error) {
	lease, ok, err := s.Semaphore.TryAcquire(ctx)
	if !ok || s.greedy {
		return nil, false, err
	}
	return s.wrap(lease), true, nil
}
