package gallery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// The exhibits below are found only by several goroutines of a client that share a
// handle, or by callers that go away in the middle.
var (
	handsQueue = Exhibit{
		Title: "wakes one of several waiters", Property: linearizability.Liveness, Script: hands,
		Wrong: object.Queue(func(env object.Env) object.Queuer {
			conn := env.InTurn()
			return &narrowQueue{Queue: recipes.NewQueue(conn, queueDir), conn: conn}
		}, recipesQueue).Named(""),
		Right: builtIn("queue", "recipes.Queue"),
	}
	handsCounter = Exhibit{
		Title: "keeps the state of a call in the handle", Property: linearizability.Delivery, Script: hands,
		Wrong: object.Counter(func(env object.Env) object.Counterer {
			return &forgetfulCounter{Counter: recipes.NewCounter(env.InTurn(), counterPath)}
		}, object.CounterClaims{Definite: true}).Named(""),
		Right: builtIn("counter", "recipes.Counter"),
	}
	roughBarrier = Exhibit{
		Title: "closes beside its calls", Property: linearizability.Liveness, Script: rough,
		Wrong: object.Barrier(func(env object.Env) object.Barrierer {
			return openBarrier{recipes.NewBarrier(env.InTurn(), barrierPath)}
		}).Named(""),
		Right: builtIn("barrier", "recipes.Barrier"),
	}
)

var roughLocks = []Exhibit{
	{
		Title: "closes without giving back", Property: linearizability.Liveness, Script: rough,
		Wrong: roughLock(func(l *recipes.Lock) object.Locker { return keptLock{l} }),
		Right: builtIn("lock", "recipes.Lock"),
	},
	{
		Title: "does not unlock for a caller that has gone", Property: linearizability.Liveness, Script: rough,
		Wrong: roughLock(func(l *recipes.Lock) object.Locker { return goneLock{l} }),
		Right: builtIn("lock", "recipes.Lock"),
	},
	{
		Title: "tries without looking", Property: linearizability.Safety, Script: rough,
		Wrong: roughLock(func(l *recipes.Lock) object.Locker { return eagerLock{l} }),
		Right: builtIn("lock", "recipes.Lock"),
	},
}

var roughSemaphores = []Exhibit{
	{
		Title: "does not release for a caller that has gone", Property: linearizability.Liveness, Script: rough,
		Wrong: roughSemaphore(func(l *recipes.Lease) object.Lease { return goneLease{l} }, false),
		Right: builtIn("semaphore", "recipes.Semaphore"),
	},
	{
		Title: "tries, and keeps what it did not get", Property: linearizability.Orphans, Script: rough,
		Wrong: roughSemaphore(func(l *recipes.Lease) object.Lease { return l }, true),
		Right: builtIn("semaphore", "recipes.Semaphore"),
	},
}

// The scripts of several goroutines, and of callers that go away.
var (
	hands = scenario.Script{Clients: 2, Rounds: 2, Goroutines: 3}
	rough = scenario.Script{Clients: 3, Rounds: 2, Careless: true}
)

// recipesQueue is what the queue of package recipes claims.
var recipesQueue = object.QueueClaims{
	Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
}

func roughLock(wrap func(*recipes.Lock) object.Locker) scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker { return wrap(recipes.NewLock(env.InTurn(), "/lock")) }).Named("")
}

func roughSemaphore(wrap func(*recipes.Lease) object.Lease, greedy bool) scenario.Workload {
	claims := object.SemaphoreClaims{LockClaims: object.LockClaims{LeavesAtRest: []string{"/semaphore/leases", "/semaphore/lock"}}, Nodes: "/semaphore/leases"}
	return object.Semaphore(func(env object.Env) object.Acquirer {
		return wrappedSemaphore{recipes.NewSemaphore(env.InTurn(), "/semaphore", 2), wrap, greedy}
	}, claims).Named("")
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
