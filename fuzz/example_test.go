package fuzz_test

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/recipes"
)

// A test of one's own lock: open makes it on a connection.
func ExampleTest() {
	test := func(t *testing.T) {
		fuzz.Test(t, object.Lock(func(env object.Env) object.Locker {
			return recipes.NewLock(env.Conn, "/lock")
		}, object.LockClaims{Fair: true, MaxHerd: 1}))
	}
	_ = test // in your test file: func TestMyLock(t *testing.T) { ... }
}

// Without faults a proof takes some seconds, with one some minutes. It also needs
// go test -timeout 20m.
func ExampleProve() {
	test := func(t *testing.T) {
		lock := object.Lock(func(env object.Env) object.Locker {
			return recipes.NewLock(env.Conn, "/lock")
		})
		fuzz.Prove(t, lock, fuzz.Bounds{})
		// NewLock reads no Cversion, NumChildren or Pzxid.
		fuzz.Prove(t, lock, fuzz.Bounds{Faults: 1, HideCounts: true, Within: 15 * time.Minute})
	}
	_ = test // in your test file: func TestMyLockHolds(t *testing.T) { ... }
}
