package main

import (
	"context"
	"maps"
	"reflect"

	"github.com/go-zookeeper/zk"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/physical/zookeeper"
	"github.com/hashicorp/vault/sdk/physical"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// vaultLock is the lock by which one of several Vaults becomes active, used as Vault's core does:
// one lock for each turn, which it tries again after an error. Vault never closes a backend; its
// connection ends with the process, here with the run.
func vaultLock() scenario.Workload { return vaultWith(nil) }

// vaultWith is vaultLock with more settings.
func vaultWith(settings map[string]string) scenario.Workload {
	w := object.StoppableLock(func(env object.Env) func() object.StoppableLocker {
		all := map[string]string{"address": env.Address, "path": "/vault"}
		maps.Copy(all, settings)
		b, err := zookeeper.NewZooKeeperBackend(all, hclog.NewNullLogger())
		check(err)
		conn := reflect.ValueOf(b).Elem().FieldByName("client").UnsafePointer()
		context.AfterFunc(env.Context, (*zk.Conn)(conn).Close)
		return func() object.StoppableLocker {
			l, err := b.(physical.HABackend).LockWith("core/lock", env.Name)
			check(err)
			return l
		}
	}, object.LockClaims{About: "the HA lock of Vault", Path: "/vault/core/_lock"}).Named("vault")
	w.Keeps = scenario.Keeps{Watches: true, Goroutines: true, Sessions: true}
	return w
}
