package main

import (
	"context"

	dubbogo "github.com/dubbogo/go-zookeeper/zk"
	"github.com/go-zookeeper/zk"
	samuel "github.com/samuel/go-zookeeper/zk"
	zdivision "github.com/z-division/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// goZookeeperLock is zk.Lock of github.com/go-zookeeper/zk.
func goZookeeperLock() scenario.Workload {
	return object.BlockingLock(func(env object.Env) object.BlockingLocker {
		conn, _, err := zk.Connect([]string{env.Address}, scenario.SessionTimeout,
			zk.WithLogInfo(false))
		check(err)
		context.AfterFunc(env.Context, conn.Close)
		return zk.NewLock(conn, env.Path, zk.WorldACL(zk.PermAll))
	}, object.LockClaims{About: "zk.Lock of go-zookeeper"}).Named("go-zookeeper")
}

// samuelLock is zk.Lock of github.com/samuel/go-zookeeper, the client before go-zookeeper.
func samuelLock() scenario.Workload {
	return object.BlockingLock(func(env object.Env) object.BlockingLocker {
		conn, _, err := samuel.Connect([]string{env.Address}, scenario.SessionTimeout,
			samuel.WithLogInfo(false))
		check(err)
		context.AfterFunc(env.Context, conn.Close)
		return samuel.NewLock(conn, env.Path, samuel.WorldACL(samuel.PermAll))
	}, object.LockClaims{About: "zk.Lock of samuel/go-zookeeper"}).Named("samuel")
}

// dubbogoLock is zk.Lock of github.com/dubbogo/go-zookeeper.
func dubbogoLock() scenario.Workload {
	return object.BlockingLock(func(env object.Env) object.BlockingLocker {
		conn, _, err := dubbogo.Connect([]string{env.Address}, scenario.SessionTimeout,
			dubbogo.WithLogInfo(false))
		check(err)
		context.AfterFunc(env.Context, conn.Close)
		return dubbogo.NewLock(conn, env.Path, dubbogo.WorldACL(dubbogo.PermAll))
	}, object.LockClaims{About: "zk.Lock of dubbogo/go-zookeeper"}).Named("dubbogo")
}

// zDivisionLock is zk.Lock of github.com/z-division/go-zookeeper, the client of Vitess.
func zDivisionLock() scenario.Workload {
	return object.BlockingLock(func(env object.Env) object.BlockingLocker {
		conn, _, err := zdivision.Connect([]string{env.Address}, scenario.SessionTimeout)
		check(err)
		context.AfterFunc(env.Context, conn.Close)
		return zdivision.NewLock(conn, env.Path, zdivision.WorldACL(zdivision.PermAll))
	}, object.LockClaims{About: "zk.Lock of z-division/go-zookeeper"}).Named("z-division")
}
