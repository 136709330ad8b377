package main

import (
	"context"
	"errors"
	"time"

	dlocker "github.com/nladuo/go-zk-lock"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// goZkLock is the lock of nladuo/go-zk-lock. A process has one connection, in a variable. So the
// scenarios have one client with several goroutines, as the example of the library has, and are
// played one after the other: a hunt, which plays several at once, ends with an error.
func goZkLock() scenario.Workload {
	return object.BlockingLock(func(env object.Env) object.BlockingLocker {
		if connected != env.Context {
			connected = env.Context
			check(dlocker.EstablishZkConn([]string{env.Address}, scenario.SessionTimeout))
			context.AfterFunc(env.Context, dlocker.CloseZkConn)
		}
		return zkLocker{dlocker.NewLocker(env.Path, 5*time.Second)}
	}, object.LockClaims{About: "nladuo/go-zk-lock"}).Named("go-zk-lock")
}

type zkLocker struct{ lock *dlocker.Dlocker }

func (l zkLocker) Lock() error {
	l.lock.Lock()
	return nil
}

func (l zkLocker) Unlock() error {
	if !l.lock.Unlock() {
		return errors.New("not unlocked")
	}
	return nil
}

// connected is the run of the connection.
var connected context.Context
