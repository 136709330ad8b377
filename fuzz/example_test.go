package fuzz_test

import (
	"testing"

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
	_ = test // in a file of one's own: func TestMyLock(t *testing.T) { ... }
}
