package main

import (
	"context"
	"time"

	"github.com/docker/libkv/store"
	"github.com/docker/libkv/store/zookeeper"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// libkvStore is the ZooKeeper store of libkv, which Docker's Swarm used.
func libkvStore(env object.Env) store.Store {
	s, err := zookeeper.New([]string{env.Address},
		&store.Config{ConnectionTimeout: scenario.SessionTimeout})
	check(err)
	context.AfterFunc(env.Context, s.Close)
	return s
}

// libkvLock is its lock. As in docker/leadership, a candidate makes one for each turn.
func libkvLock() scenario.Workload {
	return deaf(object.StoppableLock(func(env object.Env) func() object.StoppableLocker {
		s := libkvStore(env)
		return func() object.StoppableLocker {
			l, err := s.NewLock(keyOf(env.Path), &store.LockOptions{Value: []byte(env.Name)})
			check(err)
			return libkvLocker{l}
		}
	}, object.LockClaims{About: "the lock of docker/libkv"}).Named("libkv"))
}

type libkvLocker struct{ store.Locker }

func (l libkvLocker) Lock(<-chan struct{}) (<-chan struct{}, error) { return l.Locker.Lock(nil) }

// libkvWatch is its watch of a directory, which is opened again when it has ended. The nodes are
// those of recipes.GroupMember.
func libkvWatch() scenario.Workload {
	return object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		s := libkvStore(env)
		go func() {
			for env.Context.Err() == nil {
				changes, err := s.WatchTree(keyOf(env.Path), env.Context.Done())
				for err == nil {
					pairs, ok := <-changes
					if !ok {
						break
					}
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
	}, object.MembershipClaims{
		About: "WatchTree of docker/libkv", Instance: named,
	}).Named("libkv-watch")
}
