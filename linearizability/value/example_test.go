package value_test

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/value"
)

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
	fmt.Println(lin.Judge(h, nil, value.Counter{Path: "/n"}).First())
	// Output:
	// delivery        violated  b's add (steps 4 to 9) was applied twice: at steps 5 and 8
}
