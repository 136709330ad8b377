package main

import (
	"context"
	"path"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/physical/zookeeper"
	"github.com/hashicorp/vault/sdk/physical"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// vaultLock is the lock by which one of several Vaults becomes active. Vault never closes a backend.
func vaultLock() scenario.Workload {
	const dir, key = "/vault", "core/lock"
	w := object.Lock(func(env object.Env) object.Locker {
		b, err := zookeeper.NewZooKeeperBackend(
			map[string]string{"address": env.Address, "path": dir}, hclog.NewNullLogger())
		check(err)
		return &vault{backend: b.(physical.HABackend), key: key, value: env.Name}
	}, object.LockClaims{About: "the HA lock of Vault", Path: path.Join(dir, "core/_lock")}).Named("vault")
	w.Keeps = scenario.Keeps{Watches: true, Goroutines: true, Sessions: true}
	return w
}

// vault takes and gives back the lock as Vault's core does: one lock for each turn, which it tries
// again after an error.
type vault struct {
	backend    physical.HABackend
	key, value string
	lock       physical.Lock // of the present turn
	lost       <-chan struct{}
}

func (v *vault) Lock(ctx context.Context) (err error) {
	if v.lock == nil {
		v.lock, err = v.backend.LockWith(v.key, v.value)
		check(err)
	}
	stop := make(chan struct{})
	defer context.AfterFunc(ctx, func() { close(stop) })()
	if v.lost, err = v.lock.Lock(stop); err == nil && v.lost == nil {
		return context.Cause(ctx)
	}
	return err
}

// Unlock forgets the lock: after an error the library itself tries again.
func (v *vault) Unlock(context.Context) error {
	_ = v.lock.Unlock() // it is logged
	v.lock = nil
	return nil
}

func (v *vault) Lost() <-chan struct{} { return v.lost }
