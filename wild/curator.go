package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/curator-go/curator"
	"github.com/curator-go/curator/recipes"
	samuel "github.com/samuel/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// curatorLock is the InterProcessMutex of curator-go, in one level.
func curatorLock() scenario.Workload {
	return deaf(object.Lock(curatorMutex, object.LockClaims{
		About: "InterProcessMutex of curator-go"}).Named("curator-go"))
}

// curatorReentrant is the same, locked again by its owner.
func curatorReentrant() scenario.Workload {
	return deaf(object.Reentrant(curatorMutex, object.LockClaims{
		About: "InterProcessMutex of curator-go"}).Named("curator-go"))
}

func curatorMutex(env object.Env) object.Locker {
	b := curator.CuratorFrameworkBuilder{SessionTimeout: scenario.SessionTimeout,
		ConnectionTimeout: scenario.SessionTimeout, ZookeeperDialer: quiet{},
		RetryPolicy: curator.NewRetryOneTime(time.Second)}
	client := b.ConnectString(env.Address).Build()
	check(client.Start())
	context.AfterFunc(env.Context, func() { _ = client.Close() })
	m, err := recipes.NewInterProcessMutex(client, env.Path)
	check(err)
	return curatorLocker{env.Context, m}
}

// quiet dials as curator-go does, which prints each dial.
type quiet struct{}

func (quiet) Dial(address string, timeout time.Duration, _ bool) (
	curator.ZookeeperConnection, <-chan samuel.Event, error,
) {
	conn, events, err := samuel.ConnectWithDialer([]string{address}, timeout, net.DialTimeout)
	return &closedOnce{Conn: conn}, events, err
}

// closedOnce may be closed by the library and by the end of the run.
type closedOnce struct {
	*samuel.Conn
	once sync.Once
}

func (c *closedOnce) Close() { c.once.Do(c.Conn.Close) }

type curatorLocker struct {
	run   context.Context
	mutex *recipes.InterProcessMutex
}

// Lock fails at the end of the run: an Acquire panics if its client is closed meanwhile.
func (l curatorLocker) Lock(ctx context.Context) (err error) {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	defer func() {
		if l.run.Err() != nil && recover() != nil {
			err = l.run.Err()
		}
	}()
	got, err := l.mutex.Acquire()
	if err == nil && !got {
		err = errors.New("not acquired")
	}
	return err
}

func (l curatorLocker) Unlock(context.Context) error { return l.mutex.Release() }
