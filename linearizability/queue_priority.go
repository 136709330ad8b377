package linearizability

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/zksim/zksim/model"
)

// Prioritized returns the Input of an offer to a priority queue: "x#3".
func Prioritized(element string, priority int64) string {
	return fmt.Sprintf("%s#%d", element, priority)
}

// cutPriority is the inverse of Prioritized; the priority is 0 if there is none.
func cutPriority(input string) (element string, priority int64) {
	if i := strings.LastIndexByte(input, '#'); i >= 0 {
		if priority, err := strconv.ParseInt(input[i+1:], 10, 64); err == nil {
			return input[:i], priority
		}
	}
	return input, 0
}

// PriorityQueue claims to be a [Queue] from which the element with the smallest priority leaves
// first. Among equal priorities the oldest leaves first. The Input of an offer is made by
// [Prioritized].
//
// With the server's log, every removed element must be the first at that step. This includes
// elements that were put back.
type PriorityQueue Queue

func (claims PriorityQueue) judge(h History, left *Leftovers) Report {
	t := newRankedTable(h, Queue(claims), byPriority, cutPriority)
	return judgeQueue(t, left, priorityObject, rankedEvents(t), "priority queue")
}

var priorityObject = sequential[model.PriorityQueue, model.PriorityOp]{
	step: model.PriorityQueue.Step,
	show: model.PriorityQueue.String,
}

// rankedEvents returns the operations on the queue, with the ranks of the elements.
func rankedEvents(t queueTable) []event[model.PriorityOp] {
	return mapEvents(queueEvents(t), func(e event[model.QueueOp]) model.PriorityOp {
		op := model.PriorityOp{QueueOp: e.op}
		if about := t.anyOf(e.op.Item); about != nil {
			op.Rank = about.rank
		}
		return op
	})
}

// mapEvents returns the events with their operations replaced.
func mapEvents[A, B any](events []event[A], op func(event[A]) B) []event[B] {
	list := make([]event[B], len(events))
	for i, e := range events {
		list[i] = event[B]{
			op: op(e), call: e.call, ret: e.ret, step: e.step, key: e.key, lane: e.lane,
			text: e.text,
		}
	}
	return list
}
