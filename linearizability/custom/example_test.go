package custom_test

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
)

// A flag that can be raised and lowered, judged by a model of one line.
func ExampleObject() {
	flag := custom.Object[bool, string]{
		Noun: "flag",
		Step: func(up bool, op string) []bool {
			if (op == "lower") != up {
				return nil // it is there already
			}
			return []bool{!up}
		},
		Effects: func(h lin.History) []custom.Effect[string] {
			var list []custom.Effect[string]
			for i, op := range h.Ops {
				list = append(list, custom.Effect[string]{Op: op.Kind, By: &h.Ops[i]})
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
	// linearizability violated  no order of the operations explains what the clients saw of the flag: these exclude each other: b: lower() (steps 2 to 3) and b: lower() (steps 5 to 6)
}
