package object_test

import (
	"context"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// finding plays a workload with faults at some times, and returns the first violation.
func finding(t *testing.T, w scenario.Workload, kind fault.Kind) *scenario.Outcome {
	t.Helper()
	for at := 10 * time.Millisecond; at < 250*time.Millisecond; at += 20 * time.Millisecond {
		o := run(t, scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 2, Rounds: 2},
			Seed: uint64(at), Plan: []fault.Fault{{Kind: kind, Client: "a", At: at}}})
		if o.Property() != "" {
			return o
		}
	}
	return nil
}

// judged checks that the right object shows no violation, and the wrong one does.
func judged(t *testing.T, kind fault.Kind, open func(wrong bool) scenario.Workload) {
	t.Helper()
	if o := finding(t, open(false), kind); o != nil {
		t.Errorf("the right one: %s\n%s", o.Summary(), o.Story())
	}
	if o := finding(t, open(true), kind); o == nil {
		t.Error("the wrong one shows no violation")
	}
}

// blockingLock is a recipes.Lock without contexts.
type blockingLock struct {
	lock  *recipes.Lock
	wrong bool // it is never released
}

func (l blockingLock) Lock() error { return l.lock.Lock(context.Background()) }

func (l blockingLock) Unlock() error {
	if l.wrong {
		return nil
	}
	return given(l.lock.Unlock(context.Background()))
}

// given is the error of an unlock, nil if the lock was lost.
func given(err error) error {
	if errors.Is(err, recipes.ErrNotHeld) {
		return nil
	}
	return err
}

func TestLocksWithoutContexts(t *testing.T) {
	judged(t, fault.Expire, func(wrong bool) scenario.Workload {
		return object.BlockingLock(func(env object.Env) object.BlockingLocker {
			l := recipes.NewLock(env.Conn, env.Path,
				recipes.SessionTimeout(scenario.SessionTimeout))
			return blockingLock{l, wrong}
		}).Named("blocking")
	})
}

// stoppableLock is a recipes.Lock that a channel stops.
type stoppableLock struct {
	lock *recipes.Lock
	deaf bool // its channel is never closed
}

func (l stoppableLock) Lock(stop <-chan struct{}) (<-chan struct{}, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-done:
		}
	}()
	switch err := l.lock.Lock(ctx); {
	case errors.Is(err, context.Canceled):
		return nil, nil
	case err != nil:
		return nil, err
	case l.deaf:
		return make(chan struct{}), nil
	}
	return l.lock.Lost(), nil
}

func (l stoppableLock) Unlock() error { return given(l.lock.Unlock(context.Background())) }

func TestLocksThatAreStoppedByAChannel(t *testing.T) {
	judged(t, fault.Expire, func(wrong bool) scenario.Workload {
		return object.StoppableLock(func(env object.Env) func() object.StoppableLocker {
			return func() object.StoppableLocker {
				l := recipes.NewLock(env.Conn, env.Path,
					recipes.SessionTimeout(scenario.SessionTimeout))
				return stoppableLock{l, wrong}
			}
		}).Named("stoppable")
	})
}

// watcher shows the names below a path whenever they change.
func watcher(env object.Env, show func(...string), wrong bool) {
	for env.Context.Err() == nil {
		names, _, changed, err := env.Conn.ChildrenW(env.Path)
		if errors.Is(err, zk.ErrNoNode) {
			time.Sleep(time.Second)
			continue
		}
		if err != nil && wrong {
			return
		}
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for i, name := range names {
			data, _, _ := env.Conn.Get(path.Join(env.Path, name))
			names[i] = string(data)
		}
		show(names...)
		select {
		case ev := <-changed:
			if ev.Err != nil && wrong {
				return
			}
		case <-env.Context.Done():
		}
	}
}

// framedMember is a member with its name in the data.
type framedMember struct {
	object.Registrar
	name string
}

func (m framedMember) Join(ctx context.Context, data string) error {
	return m.Registrar.Join(ctx, m.name+"="+data)
}

func TestDiscoveryConverges(t *testing.T) {
	judged(t, fault.Expire, func(wrong bool) scenario.Workload {
		return object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
			go watcher(env, show, wrong)
			return framedMember{builtin.Member(env), env.Name}
		}, object.MembershipClaims{
			Recheck: time.Second,
			Instance: func(_, znode string) (name, data string, ok bool) {
				return strings.Cut(znode, "=")
			},
		}).Named("watcher")
	})
}
