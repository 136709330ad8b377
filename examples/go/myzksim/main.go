// Command myzksim is a zksim that also knows a lock of this program:
//
//	go run ./examples/go/myzksim fuzz mylock
//
// The lock has a bug, and the command finds it.
package main

import (
	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz/object"
)

func main() {
	claims := object.LockClaims{About: "one ephemeral znode that all waiters watch"}
	cli.Main(object.Lock(func(env object.Env) object.Locker {
		return &myLock{conn: env.Conn, path: env.Path} // your lock here
	}, claims).Named("mylock"))
}
