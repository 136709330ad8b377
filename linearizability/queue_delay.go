package linearizability

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/zksim/zksim/model"
)

// Due is what an offer to a delay queue has as its Input: "x@1.5s". The time is
// one of the history, such as CallTime is.
func Due(element string, at time.Duration) string { return fmt.Sprintf("%s@%v", element, at) }

func cutDue(input string) (string, int64) {
	if i := strings.LastIndexByte(input, '@'); i >= 0 {
		if at, err := time.ParseDuration(input[i+1:]); err == nil {
			return input[:i], int64(at)
		}
	}
	return input, 0
}

var delayObject = object[model.DelayQueue, model.DelayOp]{
	step: model.DelayQueue.Step,
	show: func(q model.DelayQueue) string { return q.String() },
}

// JudgeDelayQueue judges the history of one queue whose elements can be taken
// from some time on, the one that is due first before others. It is [Queue]
// but for the order, for the Input of an offer, see [Due], and for elements that
// are not due: for an empty answer, a waiting take or patience they are not there.
//
// Times decide here, so they have to be those of one clock. An answer may be empty
// if nothing in the queue was due when the call began, and may show what was due
// when it returned. With the server's log every removal has to be that of the
// first element at that step, and not before it was due.
type DelayQueue Queue

func (opts DelayQueue) judge(h History, rest *Leftovers) Report {
	h, of := withRanks(h, cutDue)
	c := newQueueCase(h, Queue(opts))
	c.ranks = ranks{of: of, due: true}
	events := mapEvents(c.rankedEvents(), func(e event[model.PriorityOp]) model.DelayOp {
		return model.DelayOp{PriorityOp: e.op, Now: c.clockOf(e.lane, e.call)}
	})
	return judgeQueueAs(c, rest, delayObject, events, "delay queue")
}

// clockOf returns the time by which a call had to judge what is due: as early as
// possible where it found nothing, as late as possible where it found something.
func (c *queueCase) clockOf(client string, call int64) int64 {
	for _, op := range c.history.Ops {
		switch {
		case op.Client != client || op.Call != call || !op.ok():
			continue
		case op.Empty:
			return int64(op.CallTime)
		}
		return int64(op.ReturnTime)
	}
	return math.MaxInt64
}
