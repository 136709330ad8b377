// Command myzksim is a zksim that also knows a lock of one's own:
//
//	go run ./examples/go/myzksim fuzz mylock
//
// The lock has a bug, and that is what this prints.
package main

import (
	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz"
)

func main() {
	claims := fuzz.LockClaims{About: "one ephemeral znode, which everybody watches"}
	cli.Main(fuzz.LockWorkload(func(env fuzz.Env) fuzz.Locker {
		return &myLock{conn: env.Conn, path: "/lock"} // your lock here
	}, claims).Named("mylock"))
}
