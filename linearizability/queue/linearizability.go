package queue

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

var fifoModel = judging.Model[model.Queue, model.QueueOp]{
	Step: model.Queue.Step,
	Show: model.Queue.String,
}

// judgeLinearizability is the verdict of porcupine, explained by a bad pattern if there is
// one. It panics if porcupine finds an order although the operations on the model show a bad
// pattern.
func judgeLinearizability[S comparable, O any](
	t table, model judging.Model[S, O], events []judging.Event[O], noun string,
) lin.Verdict {
	pattern, bad := badPattern(t)
	result, searched := judging.Decide(model, events)
	switch {
	case t.claims.MayOvertake && !bad && result != porcupine.Ok:
		return judging.Fine(lin.Linearizability, "no order of the operations was found, as a take "+
			"may overtake; the %s took nothing twice or out of nothing, passed over nothing that "+
			"a take must have seen, and was never called empty while something was there", noun)
	case bad && result == porcupine.Ok && t.isAllInModel():
		panic("linearizability: porcupine finds an order of the operations, but " + pattern.Summary)
	case bad:
		return pattern
	}
	v := judging.LinearizabilityVerdict(result, searched, model, events, noun)
	if v.Status == lin.OK {
		v.Summary += t.leftOut()
	}
	return v
}

// leftOut says which calls the model leaves out, so that nothing but patterns judges them.
func (t table) leftOut() (text string) {
	elements := 0
	for _, e := range t.elements {
		if e.leavesModel() {
			elements++
		}
	}
	if elements > 0 {
		text += fmt.Sprintf(", without %s put back or removed by id",
			judging.Count(elements, "element"))
	}
	if t.claims.StaleReads {
		text += ", without its reads"
	}
	return text
}

// isAllInModel reports whether the model leaves nothing out.
func (t table) isAllInModel() bool {
	return !t.claims.StaleReads && !t.claims.MayDuplicate && !t.claims.MayOvertake &&
		!slices.ContainsFunc(t.elements, (*element).leavesModel)
}

// eventsOf turns the history into operations on the model. With a server log, the outcome of
// each is known.
func eventsOf(t table) []judging.Event[model.QueueOp] {
	var list []judging.Event[model.QueueOp]
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		var e judging.Event[model.QueueOp]
		keep := false
		switch about := t.about(op); {
		case about != nil && about.leavesModel():
		case op.Kind == ops.Offer:
			e, keep = offerEvent(t, op)
		case (isTake(op) && op.Empty || op.Kind == ops.Peek) && op.OK():
			e, keep = readEvent(t, op), !t.claims.StaleReads
		case isTake(op):
			e, keep = takeEvent(t, op)
		}
		if keep {
			list = append(list, e)
		}
	}
	return append(list, serverEvents(t)...)
}

// callEvent fills in the fields that all operations of a client have.
func callEvent(t table, op *lin.Op, kind model.QueueKind,
	item string) judging.Event[model.QueueOp] {
	e := judging.Event[model.QueueOp]{
		Op:   model.QueueOp{Kind: kind, Item: item, Empty: op.Empty && op.OK()},
		Call: op.Call, Return: judging.End(*op), Lane: op.Client,
		Text: fmt.Sprintf("%s() -> %s", op.Kind, item),
	}
	switch {
	case kind == model.Offer:
		e.Text = fmt.Sprintf("offer(%s)", item)
	case op.Empty:
		e.Text = op.Kind + "() -> empty"
	}
	if op.Pending() {
		e.Return = t.history.End + 1
	}
	if !op.OK() {
		e.Text += " (" + op.Outcome.String() + ")"
	}
	e.Key = judging.Key(e.Return, 0)
	return e
}

func offerEvent(t table, op *lin.Op) (e judging.Event[model.QueueOp], keep bool) {
	e = callEvent(t, op, model.Offer, op.Input)
	znodes := t.offered[op].znodes
	switch {
	case len(znodes) > 0:
		e = applied(e, op, znodes[0].Created, 0)
		e.Step = min(max(znodes[0].Created, e.Call), e.Return)
		return e, true
	case t.log.Known:
		return e, false // it never took effect, even if it reported success
	}
	return doubtful(e, op, t.history.End)
}

func takeEvent(t table, op *lin.Op) (e judging.Event[model.QueueOp], keep bool) {
	if r, ok := t.removalBy(op); ok {
		e = applied(callEvent(t, op, model.Take, r.element.value), op, r.znode.Deleted, 1)
		if !op.OK() { // its client did not see the result
			e.Call = max(r.znode.Deleted, op.Call)
			e.Return = e.Call
		}
		return e, true
	}
	e = callEvent(t, op, model.Take, op.Output)
	if op.OK() {
		return e, !mayRepeat(t, op)
	}
	if t.log.Known {
		return e, false
	}
	return doubtful(e, op, t.history.End)
}

// applied places an operation at the step at which the server did it. The call may have returned
// before that, if the outcome is unknown.
func applied(e judging.Event[model.QueueOp], op *lin.Op, step,
	phase int64) judging.Event[model.QueueOp] {
	if op.OK() {
		e.Key = judging.Key(min(max(step, e.Call), e.Return), phase)
		return e
	}
	e.Return = max(step, op.Call)
	if !op.Pending() {
		e.Return = max(e.Return, op.Return)
	}
	e.Key = judging.Key(max(step, op.Call), phase)
	return e
}

// doubtful is an operation of unknown outcome without a server log.
func doubtful(e judging.Event[model.QueueOp], op *lin.Op, end int64) (judging.Event[model.QueueOp],
	bool) {
	switch {
	case op.Outcome == lin.OpFailed:
		return e, false
	case !op.OK():
		e.Op.Outcome, e.Return = model.Maybe, end+1
		e.Key = judging.Key(e.Return, 0)
	}
	return e, true
}

// mayRepeat reports whether the call returned an element once more, which a queue that delivers at
// least once may do.
func mayRepeat(t table, op *lin.Op) bool {
	e := t.taken[op]
	return t.claims.MayDuplicate && e.offer != nil && len(e.takes) > 1 &&
		(t.log.Known || e.takes[0] != op)
}

// readEvent places a peek or an empty answer at a step of the call at which it was right, if there
// is one.
func readEvent(t table, op *lin.Op) judging.Event[model.QueueOp] {
	kind := model.Take
	if op.Kind == ops.Peek {
		kind = model.Peek
	}
	e := callEvent(t, op, kind, op.Output)
	if step, ok := stateSeen(t, op, op.Call); ok {
		e.Key = judging.Key(step, 2)
	}
	return e
}

// serverEvents are the changes of the queue without a call: elements that another client removed
// and, where a queue may duplicate, second copies.
func serverEvents(t table) []judging.Event[model.QueueOp] {
	var list []judging.Event[model.QueueOp]
	add := func(kind model.QueueKind, value, text string, step, phase int64) {
		list = append(list, judging.Event[model.QueueOp]{
			Op:   model.QueueOp{Kind: kind, Item: value},
			Call: step, Return: step, Key: judging.Key(step, phase), Lane: "server", Text: text,
		})
	}
	for _, e := range t.elements {
		if e.leavesModel() {
			continue
		}
		for i, z := range e.znodes {
			if i > 0 && t.claims.MayDuplicate {
				add(model.Offer, e.value, fmt.Sprintf("stores %s again", e.value), z.Created, 0)
			}
			r, gone := t.removalOf(z)
			if gone && r.by == nil && (i == 0 || t.claims.MayDuplicate) {
				add(model.Take, e.value, fmt.Sprintf("loses %s", e.value), z.Deleted, 1)
			}
		}
	}
	return list
}
