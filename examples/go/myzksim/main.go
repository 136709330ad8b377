// Command myzksim is a zksim that also knows a lock of one's own:
//
//	go run ./examples/go/myzksim fuzz mylock
//
// The lock has a bug, and that is what this prints.
package main

import (
	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz/object"
)

func main() {
	claims := object.LockClaims{About: "one ephemeral znode, which everybody watches"}
	cli.Main(object.Lock(func(env object.Env) object.Locker {
		return &myLock{conn: env.Conn, path: "/lock"} // your lock here
	}, claims).Named("mylock"))
}
