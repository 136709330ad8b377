package fakezk_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/view"
)

// The reply to a create gets lost. Code that takes the error for "not created"
// and tries again is wrong: the node is there. The whole test takes no time, as
// the bubble's clock is virtual.
func ExampleServer_Inject() {
	inBubble(func(t fakezk.TB) { // in a test, synctest.Test
		server := fakezk.Start(t)
		conn := server.Connect(t)
		if err := server.Inject(fault.Fault{Kind: fault.DropReply, Op: "create",
			Request: 1}); err != nil {
			t.Fatalf("inject: %v", err)
		}
		_, err := conn.Create("/job", nil, 0, zk.WorldACL(zk.PermAll))
		fmt.Println("create:", err)
		_, err = conn.Create("/job", nil, 0, zk.WorldACL(zk.PermAll))
		fmt.Println("again:", err)
		for _, status := range server.Faults() {
			fmt.Printf("%s: fired %v\n", status.Fault, status.Fired)
		}
	})
	// Output:
	// create: zk: connection closed
	// again: zk: node already exists
	// drop-reply op=create request=1: fired true
}

// The second create is refused, as by a server whose ACLs are not those that the code expects. It
// is not applied. Code that takes the error for a lost connection would try for ever.
func ExampleServer_Inject_error() {
	inBubble(func(t fakezk.TB) {
		server := fakezk.Start(t)
		conn := server.Connect(t)
		f := fault.Fault{Kind: fault.Error, Code: "NoAuth", Op: "create", Request: 2}
		if err := server.Inject(f); err != nil {
			t.Fatalf("inject: %v", err)
		}
		for _, path := range []string{"/lock", "/lock/a", "/lock/b"} {
			_, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
			fmt.Println(path, err)
		}
		fmt.Println(server.Faults()[0])
		fmt.Println(server)
	})
	// Output:
	// /lock <nil>
	// /lock/a zk: not authenticated
	// /lock/b <nil>
	// error NoAuth op=create request=2: fired
	// the server has 1 sessions and 2 nodes: /lock, /lock/b
}

// A server of an ensemble lags. The client that is connected to it reads old data, until it calls
// Sync.
func ExampleOptions_ensemble() {
	inBubble(func(t fakezk.TB) {
		server := fakezk.Start(t, fakezk.Options{Servers: 3})
		writer, _ := server.ConnectAs(t, fakezk.Client{Server: 1})
		reader, _ := server.ConnectAs(t, fakezk.Client{Server: 2})
		lag := fault.Fault{Kind: fault.Lag, Server: 2, For: time.Minute, At: time.Millisecond}
		if err := server.Inject(lag); err != nil {
			t.Fatalf("inject: %v", err)
		}
		time.Sleep(time.Second) // virtual
		if _, err := writer.Create("/job", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatalf("create: %v", err)
		}
		exists, _, err := reader.Exists("/job")
		fmt.Println("at server 2:", exists, err)
		if _, err := reader.Sync("/job"); err != nil {
			t.Fatalf("sync: %v", err)
		}
		exists, _, err = reader.Exists("/job")
		fmt.Println("after a sync:", exists, err)
	})
	// Output:
	// at server 2: false <nil>
	// after a sync: true <nil>
}

// Two clients with names: the fault hits the worker, and the checks look at the tree without a
// client.
func ExampleServer_ConnectAs() {
	inBubble(func(t fakezk.TB) {
		server := fakezk.Start(t)
		boss := server.Connect(t)
		worker, events := server.ConnectAs(t, fakezk.Client{
			Name: "worker", Timeout: 30 * time.Second,
		})
		f := fault.Fault{Kind: fault.Cut, Client: "worker", Op: "create", Request: 1}
		if err := server.Inject(f); err != nil {
			t.Fatalf("inject: %v", err)
		}
		_, err := boss.Create("/boss", []byte("x"), 0, zk.WorldACL(zk.PermAll))
		fmt.Println("boss:", err)
		_, err = worker.Create("/worker", nil, 0, zk.WorldACL(zk.PermAll))
		fmt.Println("worker:", err)
		fmt.Println("worker:", (<-events).State)
		server.CheckGet(t, "/boss", "x")
		server.CheckGone(t, "/other")
		fmt.Println(server)
		fmt.Println(server.Faults()[0])
	})
	// Output:
	// boss: <nil>
	// worker: <nil>
	// worker: StateDisconnected
	// the server has 2 sessions and 2 nodes: /boss, /worker
	// cut client=worker op=create request=1: fired
}

// A stall holds a connection for longer than the client waits for an answer: it
// reconnects, and its session lives on.
func ExampleServer_StallConnections() {
	inBubble(func(t fakezk.TB) {
		server := fakezk.Start(t)
		conn := server.Connect(t)
		began, session := time.Now(), conn.SessionID()
		server.StallConnections(time.Minute, session)
		_, _, err := conn.Exists("/")
		fmt.Println(time.Since(began).Round(time.Second), err)
		_, _, err = conn.Exists("/")
		fmt.Println(time.Since(began).Round(time.Second), err, conn.SessionID() == session)
	})
	// Output:
	// 7s zk: connection closed
	// 7s <nil> true
}

// A dump of one server is the beginning of another.
func ExampleServer_Load() {
	first, second := fakezk.New(fakezk.Options{}), fakezk.New(fakezk.Options{})
	err := first.Load([]view.NodeSpec{
		{Path: "/config/mode", Data: []byte("fast")},
		{Path: "/queue", Kind: view.ContainerNode, Next: 7},
	})
	fmt.Println(err)
	fmt.Println(second.Load(first.Snapshot()))
	for _, n := range second.Snapshot() {
		fmt.Printf("%s %q %s next %d\n", n.Path, n.Data, n.Kind, n.Next)
	}
	fmt.Println(second.Load([]view.NodeSpec{{Path: "/new"}, {Path: "/config"}}))
	fmt.Println(first.Close(), second.Close())
	// Output:
	// <nil>
	// <nil>
	// / "" persistent next 2
	// /config "" persistent next 1
	// /config/mode "fast" persistent next 0
	// /queue "" container next 7
	// fakezk: load: node "/config": NodeExists
	// <nil> <nil>
}

// inBubble is synctest.Test for examples.
func inBubble(test func(fakezk.TB)) {
	failure := bubble.Run(1, func() {
		t := &exampleTB{}
		test(t)
		for _, cleanup := range slices.Backward(t.cleanups) {
			cleanup()
		}
	})
	if failure != nil {
		fmt.Println(failure)
	}
}

type exampleTB struct{ cleanups []func() }

func (t *exampleTB) Helper()                           {}
func (t *exampleTB) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *exampleTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (t *exampleTB) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (t *exampleTB) Failed() bool                      { return false }
func (t *exampleTB) Logf(string, ...any)               {} // the client's log
