package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func priorityQueueOf(entries ...rankedItem) PriorityQueue {
	var q PriorityQueue
	for _, e := range entries {
		q = q.with(e)
	}
	return q
}

func TestPriorityQueueSteps(t *testing.T) {
	empty := PriorityQueue{}
	a, b, c := rankedItem{2, "a"}, rankedItem{2, "b"}, rankedItem{-1, "c"}
	all := priorityQueueOf(a, b, c)
	take := func(item string) QueueOp { return QueueOp{Kind: Take, Item: item} }
	checkSteps(t, PriorityQueue.Step, []stepTest[PriorityQueue, PriorityOp]{
		{"offer", empty, PriorityOp{QueueOp{Kind: Offer, Item: "a"}, 2},
			[]PriorityQueue{priorityQueueOf(a)}},
		{"maybe an offer", empty, PriorityOp{QueueOp{Kind: Offer, Item: "a", Outcome: Maybe}, 2},
			[]PriorityQueue{empty, priorityQueueOf(a)}},
		{"no offer", all, PriorityOp{QueueOp{Kind: Offer, Item: "x", Outcome: NoEffect}, 2},
			[]PriorityQueue{all}},
		{
			"take the first", all, PriorityOp{QueueOp: take("c")},
			[]PriorityQueue{priorityQueueOf(a, b)},
		},
		{"take the oldest", priorityQueueOf(a, b), PriorityOp{QueueOp: take("a")},
			[]PriorityQueue{priorityQueueOf(b)}},
		{"take another", all, PriorityOp{QueueOp: take("a")}, nil},
		{"take of nothing", empty, PriorityOp{QueueOp: take("a")}, nil},
		{"maybe a take", all, PriorityOp{QueueOp: QueueOp{Kind: Take, Outcome: Maybe}},
			[]PriorityQueue{all, priorityQueueOf(a, b)}},
		{"maybe a take of nothing", empty, PriorityOp{QueueOp: QueueOp{Kind: Take, Outcome: Maybe}},
			[]PriorityQueue{empty}},
		{
			"empty", empty, PriorityOp{
				QueueOp: QueueOp{Kind: Take, Empty: true},
			}, []PriorityQueue{empty},
		},
		{"not empty", all, PriorityOp{QueueOp: QueueOp{Kind: Take, Empty: true}}, nil},
		{"peek", all, PriorityOp{QueueOp: QueueOp{Kind: Peek, Item: "c"}}, []PriorityQueue{all}},
		{"peek at another", all, PriorityOp{QueueOp: QueueOp{Kind: Peek, Item: "b"}}, nil},
	})
	if all.String() != "[c(-1) a(2) b(2)]" {
		t.Error(all)
	}
}

func TestPriorityQueueIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOf(rapid.Int64()).Draw(t, "ranks")
		var q PriorityQueue
		for _, rank := range ranks {
			q = q.with(rankedItem{rank, rapid.String().Draw(t, "item")})
		}
		slices.Sort(ranks)
		for i, e := range q.ranked() {
			if e.rank != ranks[i] {
				t.Fatalf("%d at %d, want %d", e.rank, i, ranks[i])
			}
		}
		if n := len(q.ranked()); n != len(ranks) {
			t.Fatalf("%d items of %d", n, len(ranks))
		}
	})
}

func TestDelayQueueSteps(t *testing.T) {
	q := DelayQueue{priorityQueueOf(rankedItem{5, "a"}, rankedItem{3, "b"})}
	op := func(now int64, o QueueOp) DelayOp {
		return DelayOp{PriorityOp: PriorityOp{QueueOp: o},
			Now: now}
	}
	checkSteps(t, DelayQueue.Step, []stepTest[DelayQueue, DelayOp]{
		{"nothing is due", q, op(2, QueueOp{Kind: Take, Empty: true}), []DelayQueue{q}},
		{"one is due", q, op(3, QueueOp{Kind: Take, Item: "b"}),
			[]DelayQueue{{priorityQueueOf(rankedItem{5, "a"})}}},
		{"one is due, empty", q, op(3, QueueOp{Kind: Peek, Empty: true}), nil},
		{"too early", q, op(2, QueueOp{Kind: Take, Item: "b"}), nil},
		{"out of turn", q, op(9, QueueOp{Kind: Take, Item: "a"}), nil},
		{"seen too early", q, op(2, QueueOp{Kind: Peek, Item: "b"}), nil},
		{"maybe, when nothing is due", q, op(2, QueueOp{Kind: Take, Outcome: Maybe}),
			[]DelayQueue{q}},
		{"offer", q, DelayOp{PriorityOp{QueueOp{Kind: Offer, Item: "c"}, 4}, 0},
			[]DelayQueue{
				{priorityQueueOf(rankedItem{3, "b"}, rankedItem{4, "c"}, rankedItem{5, "a"})},
			}},
	})
}
