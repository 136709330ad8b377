package queue

import (
	"fmt"
	"math"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/model"
)

// Due returns the Input of an offer to a delay queue: "x@1.5s". The time is one of the history, as
// CallTime is.
func Due(element string, at time.Duration) string { return fmt.Sprintf("%s@%v", element, at) }

// cutDue is the inverse of Due; the time is 0 if there is none.
func cutDue(input string) (element string, at int64) {
	if i := strings.LastIndexByte(input, '@'); i >= 0 {
		if at, err := time.ParseDuration(input[i+1:]); err == nil {
			return input[:i], int64(at)
		}
	}
	return input, 0
}

// Delay claims to be a [Claims] of elements with due times; the element that is due first
// leaves first. The Input of an offer is made by [Due]. Empty answers, waiting takes and patience
// ignore elements that are not due.
//
// Times decide here, so they must come from one clock. An answer may be empty if no element was due
// when the call began, and may show an element that was due when it returned. With the server's
// log, every removed element must be due and the first at that step.
type Delay Claims

// Properties implements [lin.Claims].
func (claims Delay) Properties() []string {
	return Claims(claims).Properties()
}

// Judge implements [lin.Claims].
func (claims Delay) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return Claims(claims).named(h, func(c Claims) lin.Report {
		t := newRankedTable(h, c, byDueTime, cutDue)
		events := mapEvents(rankedEvents(t), func(e judging.Event[model.PriorityOp]) model.DelayOp {
			return model.DelayOp{PriorityOp: e.Op, Now: clockOf(t.history.Ops, e.Lane, e.Call)}
		})
		return judge(t, left, delayModel, events, "delay queue")
	})
}

var delayModel = judging.Model[model.DelayQueue, model.DelayOp]{
	Step: model.DelayQueue.Step,
	Show: func(q model.DelayQueue) string { return q.String() },
}

// clockOf returns the time at which a call compared due times: as early as possible if it found
// nothing, as late as possible if it found an element.
func clockOf(calls []lin.Op, client string, call int64) int64 {
	for _, op := range calls {
		switch {
		case op.Client != client || op.Call != call || !op.OK():
			continue
		case op.Empty:
			return int64(op.CallTime)
		}
		return int64(op.ReturnTime)
	}
	return math.MaxInt64
}
