package model

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestLockStep(t *testing.T) {
	a, b := Owner{"a", 1}, Owner{"b", 2}
	free, heldA := Lock{Token: 5}, Lock{Holder: a, Token: 5}
	checkSteps(t, Lock.Step, []stepTest[Lock, LockOp]{
		{"free: granted", free, LockOp{Kind: Acquire, By: b, Token: 6}, []Lock{{b, 6}}},
		{"without tokens", free, LockOp{Kind: Acquire, By: b}, []Lock{{b, 5}}},
		{"held: not granted", heldA, LockOp{Kind: Acquire, By: b, Token: 6}, nil},
		{"old token", free, LockOp{Kind: Acquire, By: b, Token: 5}, nil},
		{"maybe granted", free, LockOp{Kind: Acquire, By: b, Token: 6, Outcome: Maybe},
			[]Lock{free, {b, 6}}},
		{"maybe, but held", heldA, LockOp{Kind: Acquire, By: b, Outcome: Maybe}, []Lock{heldA}},
		{"released", heldA, LockOp{Kind: Release, By: a}, []Lock{free}},
		{"released by another", heldA, LockOp{Kind: Release, By: b}, nil},
		{
			"maybe released", heldA, LockOp{Kind: Release, By: a, Outcome: Maybe},
			[]Lock{heldA, free},
		},
		{"not held", heldA, LockOp{Kind: Release, By: b, Outcome: NoEffect}, []Lock{heldA}},
		{"said not held, but held", heldA, LockOp{Kind: Release, By: a, Outcome: NoEffect}, nil},
		{"expired", heldA, LockOp{Kind: Expire, By: Owner{Session: 1}}, []Lock{free}},
		{
			"another's session expired", heldA, LockOp{Kind: Expire, By: Owner{Session: 2}},
			[]Lock{heldA},
		},
		{
			"another client of the session", heldA, LockOp{Kind: Expire, By: Owner{"c", 1}},
			[]Lock{heldA},
		},
	})
}

func TestQueueStep(t *testing.T) {
	var empty Queue
	ab := empty.push("a").push("b")
	checkSteps(t, Queue.Step, []stepTest[Queue, QueueOp]{
		{"offer", empty, QueueOp{Kind: Offer, Item: "a"}, []Queue{empty.push("a")}},
		{"maybe offered", empty, QueueOp{Kind: Offer, Item: "a", Outcome: Maybe},
			[]Queue{empty, empty.push("a")}},
		{"take the first", ab, QueueOp{Kind: Take, Item: "a"}, []Queue{empty.push("b")}},
		{"take the second", ab, QueueOp{Kind: Take, Item: "b"}, nil},
		{"take from empty", empty, QueueOp{Kind: Take, Item: "b"}, nil},
		{"empty", empty, QueueOp{Kind: Take, Empty: true}, []Queue{empty}},
		{"not empty", ab, QueueOp{Kind: Take, Empty: true}, nil},
		{"maybe taken", ab, QueueOp{Kind: Take, Outcome: Maybe}, []Queue{ab, empty.push("b")}},
		{"maybe taken, but empty", empty, QueueOp{Kind: Take, Outcome: Maybe}, []Queue{empty}},
		{"peek", ab, QueueOp{Kind: Peek, Item: "a"}, []Queue{ab}},
		{"peek at the second", ab, QueueOp{Kind: Peek, Item: "b"}, nil},
		{"peek at nothing", empty, QueueOp{Kind: Peek, Empty: true}, []Queue{empty}},
	})
}

func TestQueueHoldsWhatWasOffered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOf(rapid.String()).Draw(t, "items")
		var q Queue
		for _, item := range items {
			q = q.push(item)
		}
		if got := q.items(); len(got)+len(items) > 0 && !reflect.DeepEqual(got, items) {
			t.Fatalf("got %q, want %q", got, items)
		}
	})
}
