package lock_test

import (
	"fmt"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
)

// Two clients hold a lock at once; the server's log is known.
func ExampleClaims() {
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
	fmt.Print(lin.Judge(h, nil, lock.Claims{Path: "/lock"}))
	// Output:
	// safety          violated  a and b own the lock at once: a since step 3 (session 0xa, /lock/n-0000000000), b since step 7 (session 0xb, /lock/n-0000000001); b was granted it although the older /lock/n-0000000000 was there
	// belief          violated  a and b both believe that they hold the lock at step 7: a (session 0xa, /lock/n-0000000000) has held it since step 3, and nothing has ended that
	// fencing         ok        tokens grow with every grant
	// linearizability violated  no order of the operations explains what the clients saw of the lock: these exclude each other: a: lock() -> token 2 (steps 1 to 3) and b: lock() -> token 5 (steps 4 to 7)
	// zombie window: client a believed in session 0xa until step 20, 16ms after the server ended it at step 9
}
