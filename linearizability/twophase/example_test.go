package twophase_test

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/twophase"
)

// A coordinator commits before site b has voted.
func ExampleClaims() {
	begin := twophase.BeginInput("t1", []string{"a", "b"}, 0)
	h := lin.History{
		Ops: []lin.Op{
			{Client: "a", Kind: ops.Begin, Input: begin, Call: 1, Return: 3, Outcome: lin.OpOK},
			{Client: "a", Kind: ops.Vote, Input: "t1 a yes", Call: 4, Return: 6, Outcome: lin.OpOK},
			{Client: "a", Kind: ops.Await, Input: "t1", Output: ops.Commit, Call: 7, Return: 9,
				Outcome: lin.OpOK},
		},
		Server: []lin.ServerEvent{
			{Step: 2, Kind: lin.NodeCreated, Path: "/t/t1", Client: "a"},
			{Step: 5, Kind: lin.NodeCreated, Path: "/t/t1/vote-a", Data: "yes", Client: "a"},
			{Step: 8, Kind: lin.NodeCreated, Path: "/t/t1/decision", Data: "commit", Client: "a"},
		},
	}
	fmt.Println(lin.Judge(h, nil, twophase.Claims{Path: "/t"}).First())
	// Output:
	// safety          violated  a committed t1 at step 8 without the votes of b, during a's await (steps 7 to 9)
}
