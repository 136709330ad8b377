package queue_test

import (
	"errors"
	"fmt"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/queue"
)

// A take with an applied delete and a lost reply.
func ExampleClaims() {
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
	fmt.Print(lin.Judge(h, nil, queue.Claims{Path: "/q"}))
	// Output:
	// linearizability ok        the history is that of a FIFO queue
	// order           ok        first in, first out
	// delivery        violated  element x, offered by a, is lost: b's take (steps 3 to 4, unknown: zk: connection closed) removed /q/n-0 at step 3, and nobody ever got the element (the claim MayLose would allow it)
}
