package object_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
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
