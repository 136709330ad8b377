package gallery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// The exhibits below are found only by several goroutines of a client that share a handle, or by
// callers that go away in the middle.
var (
	sharedScript   = scenario.Script{Clients: 2, Rounds: 2, Goroutines: 3}
	carelessScript = scenario.Script{Clients: 3, Rounds: 2, Careless: true}
)

var sharedQueue = Exhibit{
	Title: "wakes one of several waiters", Property: liveness, Script: sharedScript,
	Wrong: object.Queue(func(env object.Env) object.Queuer {
		conn := env.InTurn()
		return &narrowQueue{Queue: recipes.NewQueue(conn, queueDir), conn: conn}
	}, object.QueueClaims{
		Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
	}),
	Right: builtIn("queue", "recipes.Queue"),
}

var sharedCounter = Exhibit{
	Title: "keeps the state of a call in the handle", Property: delivery, Script: sharedScript,
	Wrong: object.Counter(func(env object.Env) object.Counterer {
		return &forgetfulCounter{Counter: recipes.NewCounter(env.InTurn(), counterPath)}
	}, object.CounterClaims{Definite: true}),
	Right: builtIn("counter", "recipes.Counter"),
}

var carelessBarrier = Exhibit{
	Title: "closes beside its calls", Property: liveness, Script: carelessScript,
	Wrong: object.Barrier(func(env object.Env) object.Barrierer {
		return openBarrier{recipes.NewBarrier(env.InTurn(), barrierPath)}
	}),
	Right: builtIn("barrier", "recipes.Barrier"),
}

var carelessLocks = []Exhibit{
	carelessLock("closes without giving back", liveness,
		func(l *recipes.Lock) object.Locker { return keptLock{l} }),
	carelessLock("does not unlock for a caller that has gone", liveness,
		func(l *recipes.Lock) object.Locker { return goneLock{l} }),
	scriptFinds(carelessLock("tries without looking", safety,
		func(l *recipes.Lock) object.Locker { return eagerLock{l} })),
}

var carelessSemaphores = []Exhibit{
	carelessSemaphore("does not release for a caller that has gone", liveness,
		func(s *recipes.Semaphore) object.Acquirer { return goneSemaphore{s} }),
	scriptFinds(carelessSemaphore("tries, and keeps what it did not get", orphans,
		func(s *recipes.Semaphore) object.Acquirer { return greedySemaphore{acquirer{s}} })),
}

// scriptFinds is an exhibit that the usual script finds, too.
func scriptFinds(e Exhibit) Exhibit {
	e.Script = scenario.DefaultScript
	return e
}

func carelessLock(title, property string, wrap func(*recipes.Lock) object.Locker) Exhibit {
	return Exhibit{
		Title: title, Property: property, Script: carelessScript,
		Wrong: object.Lock(func(env object.Env) object.Locker {
			return wrap(recipes.NewLock(env.InTurn(), "/lock"))
		}),
		Right: builtIn("lock", "recipes.Lock"),
	}
}

func carelessSemaphore(
	title, property string, wrap func(*recipes.Semaphore) object.Acquirer,
) Exhibit {
	return Exhibit{
		Title: title, Property: property, Script: carelessScript,
		Wrong: object.Semaphore(func(env object.Env) object.Acquirer {
			return wrap(recipes.NewSemaphore(env.InTurn(), "/semaphore", 2))
		}, object.SemaphoreClaims{
			LockClaims: object.LockClaims{
				LeavesAtRest: []string{"/semaphore/leases", "/semaphore/lock"},
			},
			Nodes: "/semaphore/leases",
		}),
		Right: builtIn("semaphore", "recipes.Semaphore"),
	}
}

// narrowQueue has one watch for all waiters, and tells one of them.
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

// watch returns a channel that gets one value when the elements change.
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
	if err != nil {
		event = after(10 * time.Millisecond)
	}
	go func() {
		<-event
		q.mu.Lock()
		defer q.mu.Unlock()
		q.news = nil
		news <- struct{}{}
	}()
	return news
}

// forgetfulCounter adds the number of its latest call.
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

// rightLock is recipes.Lock with a name that does not hide its method Lock.
type rightLock = recipes.Lock

// keptLock says that it is closed and holds on to the lock.
type keptLock struct{ *rightLock }

func (keptLock) Close(context.Context) error { return nil }

// openBarrier goes on after Close.
type openBarrier struct{ *recipes.Barrier }

func (b openBarrier) Close(context.Context) error { return nil }

// goneLock does nothing for a caller that has gone.
type goneLock struct{ *rightLock }

func (l goneLock) Unlock(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.rightLock.Unlock(ctx)
}

// eagerLock says yes to every try.
type eagerLock struct{ *rightLock }

func (l eagerLock) TryLock(context.Context) (bool, error) { return true, nil }

// acquirer is a semaphore of package recipes as the workload of semaphores has it.
type acquirer struct{ *recipes.Semaphore }

func (s acquirer) Acquire(ctx context.Context) (object.Lease, error) {
	lease, err := s.Semaphore.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// greedySemaphore denies a lease that it has got by trying, and keeps it.
type greedySemaphore struct{ acquirer }

func (s greedySemaphore) TryAcquire(ctx context.Context) (object.Lease, bool, error) {
	_, _, err := s.Semaphore.TryAcquire(ctx)
	return nil, false, err
}

// goneSemaphore does not release a lease for a caller that has gone.
type goneSemaphore struct{ *recipes.Semaphore }

func (s goneSemaphore) Acquire(ctx context.Context) (object.Lease, error) {
	lease, err := s.Semaphore.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return goneLease{lease}, nil
}

type goneLease struct{ *recipes.Lease }

func (l goneLease) Release(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.Lease.Release(ctx)
}
