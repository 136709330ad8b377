package barrier_test

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/barrier"
	"github.com/zksim/zksim/linearizability/ops"
)

// A client enters a double barrier for two before the other has come.
func ExampleDouble() {
	h := lin.History{Ops: []lin.Op{
		{Client: "a", Kind: ops.Enter, Input: "2", Call: 1, Return: 2, Outcome: lin.OpOK},
		{Client: "b", Kind: ops.Enter, Input: "2", Call: 3, Return: 4, Outcome: lin.OpOK},
	}}
	fmt.Println(lin.Judge(h, nil, barrier.Double{Path: "/barrier"}).First())
	// Output:
	// safety          violated  a entered at step 2, but at no moment of its call were 2 members there
}
