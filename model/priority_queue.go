package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// PriorityQueue is the state of a queue of strings with ranks. The first element has the smallest
// rank, and of several it is the oldest. It is a comparable value, and the zero value is the empty
// queue.
type PriorityQueue struct {
	// entries are the elements of a Queue, each its rank, a colon and the item, the first one
	// first.
	entries Queue
}

// PriorityOp is one operation on a [PriorityQueue]. With the outcome [Maybe], an Offer may have
// stored Item, and a Take may have removed the first element, which may be another than Item.
type PriorityOp struct {
	QueueOp
	// Rank is the rank of Item, for an Offer.
	Rank int64
}

// Step returns the states the queue may be in after the operation; none means it cannot have
// happened in this state.
func (q PriorityQueue) Step(op PriorityOp) []PriorityQueue { return q.step(op, q.ranked()) }

// step is Step for a queue in which a Take or a Peek sees only the elements in shown.
func (q PriorityQueue) step(op PriorityOp, shown []rankedItem) []PriorityQueue {
	switch {
	case op.Outcome == NoEffect:
		return []PriorityQueue{q}
	case op.Kind == Offer:
		return after(op.Outcome, q, q.with(rankedItem{op.Rank, op.Item}), true)
	case op.Outcome == Maybe && op.Kind == Take && len(shown) > 0:
		return []PriorityQueue{q, q.without(shown[0].item)}
	case op.Outcome == Maybe, op.Empty && len(shown) == 0:
		return []PriorityQueue{q}
	case op.Empty, len(shown) == 0, shown[0].item != op.Item:
		return nil
	case op.Kind == Take:
		return []PriorityQueue{q.without(op.Item)}
	}
	return []PriorityQueue{q}
}

// String returns the elements and their ranks as a person would write them.
func (q PriorityQueue) String() string {
	var texts []string
	for _, e := range q.ranked() {
		texts = append(texts, fmt.Sprintf("%s(%d)", e.item, e.rank))
	}
	return "[" + strings.Join(texts, " ") + "]"
}

type rankedItem struct {
	rank int64
	item string
}

func (q PriorityQueue) ranked() []rankedItem {
	var list []rankedItem
	for _, text := range q.entries.items() {
		var e rankedItem
		rank, item, _ := strings.Cut(text, ":")
		if _, err := fmt.Sscan(rank, &e.rank); err != nil {
			panic(fmt.Sprintf("model: broken queue entry %q", text))
		}
		e.item = item
		list = append(list, e)
	}
	return list
}

func (q PriorityQueue) with(e rankedItem) PriorityQueue {
	list := append(q.ranked(), e)
	slices.SortStableFunc(list, func(a, b rankedItem) int { return cmp.Compare(a.rank, b.rank) })
	return pack(list)
}

func (q PriorityQueue) without(item string) PriorityQueue {
	list := q.ranked()
	i := slices.IndexFunc(list, func(e rankedItem) bool { return e.item == item })
	return pack(slices.Delete(list, i, i+1))
}

func pack(list []rankedItem) PriorityQueue {
	var q PriorityQueue
	for _, e := range list {
		q.entries = q.entries.push(fmt.Sprintf("%d:%s", e.rank, e.item))
	}
	return q
}
