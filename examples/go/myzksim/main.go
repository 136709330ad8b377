// Command myzksim is a zksim that also knows a lock of one's own:
//
//	go run ./examples/go/myzksim fuzz mylock
//
// The lock has a bug, and that is what this prints.
package main

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz"
)

func main() {
	claims := fuzz.LockClaims{About: "one ephemeral znode, which everybody watches"}
	cli.Main(fuzz.LockWorkload("mylock", claims, func(c *zk.Conn) fuzz.Locker {
		return &myLock{conn: c, path: "/lock"} // your lock here
	}))
}
