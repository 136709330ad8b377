package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
)

// In a test, conn := fakezk.Start(t).Connect(t) does all of this.
func Example() {
	server := fakezk.New(fakezk.Options{})
	conn, _, err := zk.Connect([]string{fakezk.Address}, 10*time.Second,
		zk.WithDialer(server.Dialer()), zk.WithLogInfo(false))
	if err != nil {
		panic(err)
	}
	path, err := conn.Create("/task-", []byte("sweep"), zk.FlagSequence, zk.WorldACL(zk.PermAll))
	fmt.Println(path, err)
	for _, node := range server.Tree() {
		fmt.Printf("%s %q\n", node.Path, node.Data)
	}
	conn.Close()
	fmt.Println(server.Close())
	// Output:
	// /task-0000000000 <nil>
	// / ""
	// /task-0000000000 "sweep"
	// <nil>
}

// A client asks for a node, and the answer gets lost: the node is there all the
// same, as a second attempt shows.
func ExampleWorld() {
	script := func(_ context.Context, c *sim.Client) {
		for range 2 {
			_, err := c.Conn().Create("/job", nil, 0, zk.WorldACL(zk.PermAll))
			c.Note("create: %v", err)
		}
	}
	result, err := sim.World{
		Seed:    1,
		Clients: []sim.Actor{{Name: "a", Run: script}},
		Plan:    []fault.Fault{{Kind: fault.DropReply, Client: "a", Request: 1}},
		Settle:  time.Second,
	}.Run()
	if err != nil {
		panic(err)
	}
	fmt.Print(result.Trace)
	// Output:
	// 1     0.003897s  a        connects (connection 1)
	//     2     0.004254s  a        -> connect: session S1
	//     3     0.004254s  server   session S1 starts
	//     4     0.010315s  a        <- connect: session S1
	//     5     0.010315s  a        is told: connected
	//     6     0.010527s  fault    drop-reply client=a request=1 hits a's #1 create /job
	//     7     0.010527s  a        -> #1 create /job: ok /job, zxid 2
	//     8     0.010527s  server   created /job
	//     9     0.010881s  a        connection 1: reset
	//    10     0.010881s  a        is told: disconnected
	//    11     0.010881s  a        create: zk: connection closed
	//    12     0.012763s  a        connects (connection 2)
	//    13     0.014483s  a        -> connect: session S1
	//    14     0.014718s  a        <- connect: session S1
	//    15     0.014718s  a        is told: connected
	//    16     0.015026s  a        -> #2 create /job: NodeExists, zxid 3
	//    17     0.015414s  a        <- create: NodeExists
	//    18     0.015414s  a        create: zk: node already exists
}
