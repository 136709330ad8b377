package linearizability

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/zksim/zksim/model"
)

// Prioritized is what an offer to a priority queue has as its Input: "x#3".
func Prioritized(element string, priority int64) string {
	return fmt.Sprintf("%s#%d", element, priority)
}

func cutPriority(input string) (string, int64) {
	if i := strings.LastIndexByte(input, '#'); i >= 0 {
		if priority, err := strconv.ParseInt(input[i+1:], 10, 64); err == nil {
			return input[:i], priority
		}
	}
	return input, 0
}

var priorityObject = object[model.PriorityQueue, model.PriorityOp]{
	step: model.PriorityQueue.Step,
	show: model.PriorityQueue.String,
}

// JudgePriorityQueue judges the history of one queue from which the element with
// the smallest priority leaves first, and of several the oldest. It is
// [Queue] but for the order, and for the Input of an offer, see
// [Prioritized].
//
// With the server's log every removal has to be that of the first element at that
// step, also of an element that was put back, before and after.
type PriorityQueue Queue

func (opts PriorityQueue) judge(h History, rest *Leftovers) Report {
	h, of := withRanks(h, cutPriority)
	c := newQueueCase(h, Queue(opts))
	c.ranks = ranks{of: of}
	return judgeQueueAs(c, rest, priorityObject, c.rankedEvents(), "priority queue")
}

// rankedEvents are the operations on the queue with the ranks of the elements.
func (c *queueCase) rankedEvents() []event[model.PriorityOp] {
	return mapEvents(c.queueEvents(), func(e event[model.QueueOp]) model.PriorityOp {
		return model.PriorityOp{QueueOp: e.op, Rank: c.ranks.of[e.op.Item]}
	})
}

// mapEvents are the same events with other operations.
func mapEvents[A, B any](events []event[A], op func(event[A]) B) []event[B] {
	list := make([]event[B], len(events))
	for i, e := range events {
		list[i] = event[B]{op: op(e), call: e.call, ret: e.ret, key: e.key, lane: e.lane, text: e.text, note: e.note}
	}
	return list
}
