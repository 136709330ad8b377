package object_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var errRefused = errors.New("refused")

// refuser is an object of any kind whose every call fails at once with the error.
type refuser struct{ err error }

func (r refuser) Lock(context.Context) error                    { return r.err }
func (r refuser) Unlock(context.Context) error                  { return r.err }
func (r refuser) Acquire(context.Context) (object.Lease, error) { return nil, r.err }
func (r refuser) Lead(context.Context) error                    { return r.err }
func (r refuser) Resign(context.Context) error                  { return r.err }
func (r refuser) Close(context.Context) error                   { return r.err }
func (r refuser) Add(context.Context, int64) (int64, error)     { return 0, r.err }
func (r refuser) Next(context.Context) (int64, error)           { return 0, r.err }
func (r refuser) Offer(context.Context, []byte) error           { return r.err }
func (r refuser) Take(context.Context) ([]byte, error)          { return nil, r.err }
func (r refuser) Wait(context.Context) error                    { return r.err }
func (r refuser) Remove(context.Context) error                  { return r.err }
func (r refuser) Enter(context.Context) error                   { return r.err }
func (r refuser) Leave(context.Context) error                   { return r.err }

// refusingBarrier and refusingValue have methods of other types than refuser.
type refusingBarrier struct{ refuser }

func (r refusingBarrier) Set(context.Context) error { return r.err }

type refusingValue struct{ err error }

func (r refusingValue) Get(context.Context) (s object.ValueState, err error) { return s, r.err }

func (r refusingValue) Set(context.Context, []byte) (s object.ValueState, err error) {
	return s, r.err
}

func (r refusingValue) CompareAndSet(
	context.Context, object.ValueState, []byte,
) (s object.ValueState, done bool, err error) {
	return s, false, r.err
}

func refusers(err error) []scenario.Workload {
	no := refuser{err}
	return []scenario.Workload{
		object.Lock(func(object.Env) object.Locker { return no }),
		object.Semaphore(func(object.Env) object.Acquirer { return no }),
		object.Election(func(object.Env) object.Elector { return no }),
		object.Counter(func(object.Env) object.Counterer { return no }),
		object.IDGenerator(func(object.Env) object.IDSource { return no }),
		object.Queue(func(object.Env) object.Queuer { return no }),
		object.Barrier(func(object.Env) object.Barrierer { return refusingBarrier{no} }),
		object.DoubleBarrier(func(object.Env) object.DoubleBarrierer { return no }),
		object.Value(func(object.Env) object.Valuer { return refusingValue{err} }),
	}
}

func TestObjectsWhoseEveryCallFails(t *testing.T) {
	for _, w := range refusers(errRefused) {
		t.Run(w.Name, func(t *testing.T) {
			o := run(t, scenario.Scenario{Workload: w.Named("refusing"),
				Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1})
			if o.Property() != linearizability.Liveness ||
				!strings.Contains(o.Summary(), "times in a row since step") {
				t.Errorf("got %q: %s; want a violation of liveness", o.Property(), o.Summary())
			}
		})
	}
}

// dying is a counter and a queue whose calls fail from some number on. Each sends some requests
// before.
type dying struct {
	conn     *zk.Conn
	requests int
	lives    int // calls that it survives
	counter  *recipes.Counter
	queue    *recipes.Queue
}

func (d *dying) dies() bool {
	if d.lives--; d.lives >= 0 {
		return false
	}
	for range d.requests {
		_, _, _ = d.conn.Exists("/")
	}
	return true
}

func (d *dying) Add(ctx context.Context, delta int64) (int64, error) {
	if d.dies() {
		return 0, errRefused
	}
	return d.counter.Add(ctx, delta)
}

func (d *dying) Offer(ctx context.Context, data []byte) error { return d.queue.Offer(ctx, data) }

func (d *dying) Take(ctx context.Context) ([]byte, error) {
	if d.dies() {
		return nil, errRefused
	}
	return d.queue.Take(ctx)
}

// ourQueue are the claims of recipes.Queue, which may lose an element with a reply.
var ourQueue = object.QueueClaims{Items: "/queue/items", MayLose: true,
	LeavesAtRest: []string{"/queue", "/queue/*"}}

// TestObjectsThatFailForEver: a client that notices the failure late, after many requests, is as
// stuck as one that notices it at once.
func TestObjectsThatFailForEver(t *testing.T) {
	for _, requests := range []int{1, 12} {
		for _, lives := range []int{0, 2} {
			open := func(env object.Env) *dying {
				return &dying{conn: env.Conn, requests: requests, lives: lives,
					counter: recipes.NewCounter(env.Conn, env.Path),
					queue:   recipes.NewQueue(env.Conn, env.Path)}
			}
			for _, w := range []scenario.Workload{
				object.Counter(func(env object.Env) object.Counterer { return open(env) }),
				object.Queue(func(env object.Env) object.Queuer { return open(env) }, ourQueue),
			} {
				for seed := range uint64(3) {
					o := run(t, scenario.Scenario{Workload: w.Named("dying"), Seed: seed,
						Script: scenario.Script{Clients: 2, Rounds: 2}})
					if o.Property() != linearizability.Liveness {
						t.Errorf("%s, %d requests, %d lives, seed %d: got %q: %s; want liveness",
							w.Name, requests, lives, seed, o.Property(), o.Summary())
					}
				}
			}
		}
	}
}

// TestTakesThatWaitInVain: a take that returns an error of its own when its time is up, or shortly
// before, has not failed.
func TestTakesThatWaitInVain(t *testing.T) {
	w := object.Queue(func(env object.Env) object.Queuer {
		return polling{recipes.NewQueue(env.Conn, env.Path)}
	}, ourQueue)
	for seed := range uint64(5) {
		o := run(t, scenario.Scenario{Workload: w.Named("polling"), Seed: seed,
			Script: scenario.Script{Clients: 2, Rounds: 2},
			Plan:   []fault.Fault{{Kind: fault.DropRequest, Client: "a", Request: 6}}})
		if o.Status() == linearizability.Violated {
			t.Errorf("seed %d: %s: %s", seed, o.Property(), o.Summary())
		}
	}
}

// polling is a queue whose take asks once a second, and gives up when the next time would be too
// late.
type polling struct{ *recipes.Queue }

func (q polling) Take(ctx context.Context) ([]byte, error) {
	for {
		if data, ok, err := q.Poll(ctx); ok || err != nil {
			return data, err
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < time.Second {
			return nil, context.DeadlineExceeded
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
