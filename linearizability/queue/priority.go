package queue

import (
	"fmt"
	"strconv"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
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

// Priority claims to be a [Claims] from which the element with the smallest priority leaves
// first. Among equal priorities the oldest leaves first. The Input of an offer is made by
// [Prioritized].
//
// With the server's log, every removed element must be the first at that step. This includes
// elements that were put back.
type Priority Claims

// Properties implements [lin.Claims].
func (claims Priority) Properties() []string {
	return Claims(claims).Properties()
}

// Judge implements [lin.Claims].
func (claims Priority) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return Claims(claims).named(h, func(c Claims) lin.Report {
		t := newRankedTable(h, c, byPriority, cutPriority)
		return judge(t, left, priorityModel, rankedEvents(t), "priority queue")
	})
}

var priorityModel = judging.Model[model.PriorityQueue, model.PriorityOp]{
	Step: model.PriorityQueue.Step,
	Show: model.PriorityQueue.String,
}

// rankedEvents returns the operations on the queue, with the ranks of the elements.
func rankedEvents(t table) []judging.Event[model.PriorityOp] {
	return mapEvents(eventsOf(t), func(e judging.Event[model.QueueOp]) model.PriorityOp {
		op := model.PriorityOp{QueueOp: e.Op}
		if about := t.anyOf(e.Op.Item); about != nil {
			op.Rank = about.rank
		}
		return op
	})
}

// mapEvents returns the events with their operations replaced.
func mapEvents[A, B any](events []judging.Event[A],
	op func(judging.Event[A]) B) []judging.Event[B] {
	list := make([]judging.Event[B], len(events))
	for i, e := range events {
		list[i] = judging.Event[B]{
			Op: op(e), Call: e.Call, Return: e.Return, Step: e.Step, Key: e.Key, Lane: e.Lane,
			Text: e.Text,
		}
	}
	return list
}
