package linearizability_test

import (
	"errors"
	"fmt"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// Two clients hold a lock at once; the server's log is known.
func ExampleLock() {
	const ms = time.Millisecond
	h := lin.History{
		Ops: []lin.Op{
			{Client: "a", Kind: ops.Lock, Call: 1, Return: 3, ReturnTime: 3 * ms, Outcome: lin.OpOK,
				Token: 2, Session: 0xa},
			{Client: "b", Kind: ops.Lock, Call: 4, Return: 7, ReturnTime: 7 * ms, Outcome: lin.OpOK,
				Token: 5, Session: 0xb},
		},
		Server: []lin.ServerEvent{
			{Step: 2, Kind: lin.NodeCreated, Path: "/lock/n-0000000000", Czxid: 2, Session: 0xa,
				Owner: 0xa, Client: "a"},
			{Step: 5, Kind: lin.NodeCreated, Path: "/lock/n-0000000001", Czxid: 5, Session: 0xb,
				Owner: 0xb, Client: "b"},
			{Step: 9, Time: 9 * ms, Kind: lin.SessionEnded, Owner: 0xa},
			{Step: 9, Time: 9 * ms, Kind: lin.NodeDeleted, Path: "/lock/n-0000000000", Owner: 0xa},
		},
		Notices: []lin.Notice{{Client: "a", Step: 20, Time: 25 * ms, Kind: lin.SessionExpired}},
		End:     30,
	}
	fmt.Print(lin.Judge(h, nil, lin.Lock{Path: "/lock"}))
	// Output:
	// safety          violated  a and b own the lock at once: a since step 3 (session 0xa, /lock/n-0000000000), b since step 7 (session 0xb, /lock/n-0000000001)
	// belief          violated  a and b both believe that they hold the lock at step 7: a (session 0xa, /lock/n-0000000000) has held it since step 3, and nothing has ended that
	// fencing         ok        tokens grow with every grant
	// linearizability violated  no order of the operations explains what the clients saw of the lock: it goes wrong with b: lock() -> token 5 (steps 4 to 7)
	// zombie window: client a believed in session 0xa until step 20, 16ms after the server ended it at step 9
}

// A take with an applied delete and a lost reply.
func ExampleQueue() {
	step := int64(0)
	rec := lin.NewRecorder(func() int64 { step++; return step }, func() time.Duration { return 0 })
	rec.Call("a", ops.Offer, "x").OK(lin.Result{})
	rec.Call("b", ops.Take, "").Unknown(lin.Result{}, errors.New("zk: connection closed"))
	h := rec.History([]lin.ServerEvent{
		{
			Step: 1, Kind: lin.NodeCreated, Path: "/q/n-0", Data: "x", Czxid: 1, Session: 1,
			Client: "a",
		},
		{Step: 3, Kind: lin.NodeDeleted, Path: "/q/n-0", Czxid: 1, Session: 2, Client: "b"},
	})
	fmt.Print(lin.Judge(h, nil, lin.Queue{Path: "/q"}))
	// Output:
	// linearizability ok        the history is that of a FIFO queue
	// order           ok        first in, first out
	// delivery        violated  element x, offered by a, is lost: b's take (steps 3 to 4, unknown: zk: connection closed) removed /q/n-0 at step 3, but its reply was lost, and nobody ever got the element
}

// A flag that can be raised and lowered, judged by a model of one line.
func ExampleObject() {
	flag := lin.Object[bool, string]{
		Noun: "flag",
		Step: func(up bool, op string) []bool {
			if (op == "lower") != up {
				return nil // it is there already
			}
			return []bool{!up}
		},
		Effects: func(h lin.History) []lin.Effect[string] {
			var list []lin.Effect[string]
			for i, op := range h.Ops {
				list = append(list, lin.Effect[string]{Op: op.Kind, By: &h.Ops[i]})
			}
			return list
		},
	}
	h := lin.History{Ops: []lin.Op{
		{Client: "a", Kind: "raise", Call: 1, Return: 4, Outcome: lin.OpOK},
		{Client: "b", Kind: "lower", Call: 2, Return: 3, Outcome: lin.OpOK},
		{Client: "b", Kind: "lower", Call: 5, Return: 6, Outcome: lin.OpOK},
	}}
	fmt.Print(lin.Judge(h, nil, flag))
	// Output:
	// linearizability violated  no order of the operations explains what the clients saw of the flag: it goes wrong with b: lower() (steps 5 to 6)
}

// Two clients add 1, one of them twice, because the reply to its first try was lost.
func ExampleCounter() {
	h := lin.History{
		Ops: []lin.Op{
			{
				Client: "a", Kind: ops.Add, Input: "1", Output: "1", Call: 1, Return: 3,
				Outcome: lin.OpOK,
			},
			{
				Client: "b", Kind: ops.Add, Input: "1", Output: "3", Call: 4, Return: 9,
				Outcome: lin.OpOK,
			},
		},
		Server: []lin.ServerEvent{
			{Step: 2, Kind: lin.DataChanged, Path: "/n", Data: "1", Client: "a"},
			{Step: 5, Kind: lin.DataChanged, Path: "/n", Data: "2", Client: "b"},
			{Step: 8, Kind: lin.DataChanged, Path: "/n", Data: "3", Client: "b"},
		},
	}
	fmt.Println(lin.Judge(h, nil, lin.Counter{Path: "/n"}).First())
	// Output:
	// delivery        violated  b's add (steps 4 to 9) was applied twice: at steps 5 and 8
}
