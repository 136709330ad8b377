package main

import (
	"context"

	dubbogo "github.com/dubbogo/go-zookeeper/zk"
	"github.com/go-zookeeper/zk"
	samuel "github.com/samuel/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// goZookeeperLock is zk.Lock of github.com/go-zookeeper/zk.
func goZookeeperLock() scenario.Workload {
	return ofClient("go-zookeeper", func(env object.Env) clientLock {
		conn, _, err := zk.Connect([]string{env.Address}, scenario.SessionTimeout, zk.WithLogInfo(false))
		check(err)
		context.AfterFunc(env.Context, conn.Close)
		return zk.NewLock(conn, env.Path, zk.WorldACL(zk.PermAll))
	})
}

// samuelLock is zk.Lock of github.com/samuel/go-zookeeper, the client before go-zookeeper.
func samuelLock() scenario.Workload {
	return ofClient("samuel", func(env object.Env) clientLock {
		conn, _, err := samuel.Connect([]string{env.Address}, scenario.SessionTimeout, samuel.WithLogInfo(false))
		check(err)
		context.AfterFunc(env.Context, conn.Close)
		return samuel.NewLock(conn, env.Path, samuel.WorldACL(samuel.PermAll))
	})
}

// dubbogoLock is zk.Lock of github.com/dubbogo/go-zookeeper.
func dubbogoLock() scenario.Workload {
	return ofClient("dubbogo", func(env object.Env) clientLock {
		conn, _, err := dubbogo.Connect([]string{env.Address}, scenario.SessionTimeout, dubbogo.WithLogInfo(false))
		check(err)
		context.AfterFunc(env.Context, conn.Close)
		return dubbogo.NewLock(conn, env.Path, dubbogo.WorldACL(dubbogo.PermAll))
	})
}

// clientLock is the lock of a client package: it has no contexts.
type clientLock interface {
	Lock() error
	Unlock() error
}

// ofClient is the workload of a client's lock.
func ofClient(name string, open func(object.Env) clientLock) scenario.Workload {
	w := object.Lock(func(env object.Env) object.Locker { return blocking{open(env)} },
		object.LockClaims{About: "zk.Lock of " + name}).Named(name)
	w.Deaf = true
	return w
}

type blocking struct{ clientLock }

func (l blocking) Lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.clientLock.Lock()
}

func (l blocking) Unlock(context.Context) error { return l.clientLock.Unlock() }

// check ends the script: a library refuses its settings, or the address.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
