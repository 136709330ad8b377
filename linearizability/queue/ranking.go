package queue

import (
	"fmt"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// ranking is the meaning of the rank of an element. The element with the smallest rank leaves
// first; of several with that rank, the oldest.
type ranking int

const (
	byAge      ranking = iota // all ranks are 0: a FIFO queue
	byPriority                // the rank is a priority
	byDueTime                 // the rank is the time, in nanoseconds, from which on it can be taken
)

// readyFrom returns the time from which on an element can be taken.
func (by ranking) readyFrom(e *element) time.Duration {
	if by != byDueTime {
		return 0
	}
	return time.Duration(e.rank)
}

// ready reports whether an element can be taken at a time.
func (by ranking) ready(e *element, now time.Duration) bool {
	return by != byDueTime || by.readyFrom(e) <= now
}

func (by ranking) describe(e *element) string {
	switch by {
	case byDueTime:
		return fmt.Sprintf("%s (due at %v)", e.name, by.readyFrom(e))
	case byPriority:
		return fmt.Sprintf("%s (priority %d)", e.name, e.rank)
	}
	return e.name
}

// newRankedTable is newTable for a queue of ranked offers: cut splits the rank off their
// input. It panics if equal elements have different ranks.
func newRankedTable(
	h lin.History, claims Claims, by ranking, cut func(input string) (element string, rank int64),
) table {
	ranks := map[string]int64{}
	h = h.Sorted()
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Kind != ops.Offer {
			continue
		}
		value, rank := cut(op.Input)
		if other, known := ranks[value]; known && other != rank {
			panic(fmt.Sprintf("linearizability: element %q has the ranks %d and %d; equal "+
				"elements must have equal ranks", value, other, rank))
		}
		op.Input, ranks[value] = value, rank
	}
	t := newTable(h, claims)
	t.ranking = by
	for _, e := range t.elements {
		e.rank = ranks[e.value]
	}
	return t
}
