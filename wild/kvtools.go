package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kvtools/valkeyrie/store"
	"github.com/kvtools/zookeeper"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// kvtoolsStore is the ZooKeeper store of valkeyrie, from which Traefik reads its configuration.
func kvtoolsStore(env object.Env) store.Store {
	s, err := zookeeper.New(env.Context, []string{env.Address},
		&zookeeper.Config{ConnectionTimeout: scenario.SessionTimeout})
	check(err)
	context.AfterFunc(env.Context, func() { _ = s.Close() })
	return s
}

// keyOf is the key of a znode: keys begin without a slash.
func keyOf(znode string) string { return strings.TrimPrefix(znode, "/") }

// kvtoolsLock is its lock. A candidate makes a new one for each try, as in docker/leadership, and
// ends the context of its last one, by which the store looks for the end of the hold.
func kvtoolsLock() scenario.Workload {
	w := deaf(object.Lock(func(env object.Env) object.Locker {
		return &kvtoolsLocker{env: env, store: kvtoolsStore(env), end: func() {}}
	}, object.LockClaims{About: "the lock of kvtools/zookeeper"}).Named("kvtools"))
	w.Keeps = scenario.Keeps{Watches: true}
	return w
}

type kvtoolsLocker struct {
	env   object.Env
	store store.Store
	held  store.Locker
	lost  <-chan struct{}
	end   context.CancelFunc // of the hold
}

func (l *kvtoolsLocker) Lock(ctx context.Context) (err error) {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.held, err = l.store.NewLock(ctx, keyOf(l.env.Path),
		&store.LockOptions{Value: []byte(l.env.Name)})
	check(err)
	ctx, l.end = context.WithCancel(l.env.Context)
	l.lost, err = l.held.Lock(ctx)
	return err
}

func (l *kvtoolsLocker) Unlock(ctx context.Context) error {
	defer l.end()
	return l.held.Unlock(ctx)
}

func (l *kvtoolsLocker) Lost() <-chan struct{} { return l.lost }

// kvtoolsValue is one of its keys.
func kvtoolsValue() scenario.Workload {
	return object.Value(func(env object.Env) object.Valuer {
		return kvtoolsKey{kvtoolsStore(env), keyOf(env.Path)}
	}, object.ValueClaims{About: "a key of kvtools/zookeeper", StaleReads: true}).Named("kvtools")
}

type kvtoolsKey struct {
	store store.Store
	key   string
}

func (k kvtoolsKey) Get(ctx context.Context) (object.ValueState, error) {
	pair, err := k.store.Get(ctx, k.key, nil)
	if errors.Is(err, store.ErrKeyNotFound) {
		return object.ValueState{}, nil
	}
	if err != nil {
		return object.ValueState{}, err
	}
	return stateOf(pair), nil
}

func stateOf(p *store.KVPair) object.ValueState {
	return object.ValueState{Data: p.Value, Exists: true, Version: int32(p.LastIndex)}
}

// Set returns no version, as Put has none.
func (k kvtoolsKey) Set(ctx context.Context, data []byte) (object.ValueState, error) {
	err := k.store.Put(ctx, k.key, data, nil)
	return object.ValueState{Data: data, Exists: true, Version: -1}, err
}

func (k kvtoolsKey) CompareAndSet(
	ctx context.Context, seen object.ValueState, data []byte,
) (now object.ValueState, done bool, err error) {
	var previous *store.KVPair // none: the key must be new
	if seen.Exists && seen.Version >= 0 {
		previous = &store.KVPair{Key: k.key, LastIndex: uint64(seen.Version)}
	}
	done, pair, err := k.store.AtomicPut(ctx, k.key, data, previous, nil)
	if errors.Is(err, store.ErrKeyModified) || errors.Is(err, store.ErrKeyExists) {
		now, err = k.Get(ctx)
	} else if err == nil {
		now = stateOf(pair)
	}
	return now, done, err
}

// kvtoolsWatch is its watch of a directory, which is opened again when it has ended, as Traefik
// does. The nodes are those of recipes.GroupMember.
func kvtoolsWatch() scenario.Workload {
	return object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		s := kvtoolsStore(env)
		go func() {
			for env.Context.Err() == nil {
				changes, err := s.WatchTree(env.Context, keyOf(env.Path), nil)
				check(err)
				for pairs := range changes {
					var shown []string
					for _, p := range pairs {
						shown = append(shown, p.Key+"="+string(p.Value))
					}
					show(shown...)
				}
				time.Sleep(100 * time.Millisecond)
			}
		}()
		return builtin.Member(env)
	}, object.MembershipClaims{About: "WatchTree of kvtools/zookeeper",
		Instance: named}).Named("kvtools-watch")
}
