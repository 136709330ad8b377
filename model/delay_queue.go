package model

// DelayQueue is the state of a queue of strings with due times. The first element is the one that
// is due first, and of several the oldest. It is a comparable value, and the zero value is the
// empty queue.
type DelayQueue struct{ PriorityQueue }

// DelayOp is one operation on a [DelayQueue]; the Rank of an Offer is the moment from which on Item
// can be taken. The outcome [Maybe] means the same as for [PriorityOp].
type DelayOp struct {
	PriorityOp
	// Now is the moment of a Take or a Peek, which ignore elements that are due later.
	Now int64
}

// Step returns the states the queue may be in after the operation; none means it cannot have
// happened in this state.
func (q DelayQueue) Step(op DelayOp) []DelayQueue {
	var due []rankedItem
	for _, e := range q.ranked() {
		if e.rank <= op.Now {
			due = append(due, e)
		}
	}
	var next []DelayQueue
	for _, s := range q.step(op.PriorityOp, due) {
		next = append(next, DelayQueue{s})
	}
	return next
}
