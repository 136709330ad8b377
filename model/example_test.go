package model_test

import (
	"fmt"

	"github.com/zksim/zksim/model"
)

func ExampleLock_Step() {
	a, b := model.Owner{Client: "a", Session: 1}, model.Owner{Client: "b", Session: 2}
	states := model.Lock{}.Step(model.LockOp{Kind: model.Acquire, By: a, Token: 7})
	fmt.Println(states)
	fmt.Println(states[0].Step(model.LockOp{Kind: model.Acquire, By: b, Token: 8}))
	fmt.Println(states[0].Step(model.LockOp{Kind: model.Release, By: a, Outcome: model.Maybe}))
	// Output:
	// [{{a 1} 7}]
	// []
	// [{{a 1} 7} {{ 0} 7}]
}

func ExampleQueue_Step() {
	var q model.Queue
	q = q.Step(model.QueueOp{Kind: model.Offer, Item: "x"})[0]
	q = q.Step(model.QueueOp{Kind: model.Offer, Item: "y"})[0]
	fmt.Println(q, q.Step(model.QueueOp{Kind: model.Take, Item: "y"}))
	// Output: [x y] []
}
