package linearizability

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

var queueObject = sequential[model.Queue, model.QueueOp]{
	step: model.Queue.Step,
	show: model.Queue.String,
}

// judgeQueueLinearizability is the verdict of porcupine, explained by a bad pattern if there is
// one. It panics if porcupine finds an order although the operations on the model show a bad
// pattern.
func judgeQueueLinearizability[S comparable, O any](
	t queueTable, model sequential[S, O], events []event[O], noun string,
) Verdict {
	pattern, bad := badPattern(t)
	if t.claims.MayOvertake && !bad {
		return fine(Linearizability, "no pattern that no queue shows")
	}
	result := decide(model, events)
	switch {
	case bad && result == porcupine.Ok && t.isAllInModel():
		panic("linearizability: porcupine finds an order of the operations, but " + pattern.Summary)
	case bad:
		return pattern
	}
	return linearizabilityVerdict(result, model, events, noun)
}

// isAllInModel reports whether the model leaves nothing out.
func (t queueTable) isAllInModel() bool {
	return !t.claims.StaleReads && !t.claims.MayDuplicate && !t.claims.MayOvertake &&
		!slices.ContainsFunc(t.elements, (*element).leavesModel)
}

// queueEvents turns the history into operations on the model. With a server log, the outcome of
// each is known.
func queueEvents(t queueTable) []event[model.QueueOp] {
	var list []event[model.QueueOp]
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		var e event[model.QueueOp]
		keep := false
		switch about := t.about(op); {
		case about != nil && about.leavesModel():
		case op.Kind == ops.Offer:
			e, keep = offerEvent(t, op)
		case (isTake(op) && op.Empty || op.Kind == ops.Peek) && op.ok():
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
func callEvent(t queueTable, op *Op, kind model.QueueKind, item string) event[model.QueueOp] {
	e := event[model.QueueOp]{
		op:   model.QueueOp{Kind: kind, Item: item, Empty: op.Empty && op.ok()},
		call: op.Call, ret: End(*op), lane: op.Client,
		text: fmt.Sprintf("%s() -> %s", op.Kind, item),
	}
	switch {
	case kind == model.Offer:
		e.text = fmt.Sprintf("offer(%s)", item)
	case op.Empty:
		e.text = op.Kind + "() -> empty"
	}
	if op.pending() {
		e.ret = t.history.End + 1
	}
	if !op.ok() {
		e.text += " (" + op.Outcome.String() + ")"
	}
	e.key = at(e.ret, 0)
	return e
}

func offerEvent(t queueTable, op *Op) (e event[model.QueueOp], keep bool) {
	e = callEvent(t, op, model.Offer, op.Input)
	znodes := t.offered[op].znodes
	switch {
	case len(znodes) > 0:
		e = applied(e, op, znodes[0].created, 0)
		e.step = min(max(znodes[0].created, e.call), e.ret)
		return e, true
	case t.log.known:
		return e, false // it never took effect, even if it reported success
	}
	return doubtful(e, op, t.history.End)
}

func takeEvent(t queueTable, op *Op) (e event[model.QueueOp], keep bool) {
	if r, ok := t.removalBy(op); ok {
		e = applied(callEvent(t, op, model.Take, r.element.value), op, r.znode.deleted, 1)
		if !op.ok() { // its client did not see the result
			e.call = max(r.znode.deleted, op.Call)
			e.ret = e.call
		}
		return e, true
	}
	e = callEvent(t, op, model.Take, op.Output)
	if op.ok() {
		return e, !mayRepeat(t, op)
	}
	if t.log.known {
		return e, false
	}
	return doubtful(e, op, t.history.End)
}

// applied places an operation at the step at which the server did it. The call may have returned
// before that, if the outcome is unknown.
func applied(e event[model.QueueOp], op *Op, step, phase int64) event[model.QueueOp] {
	if op.ok() {
		e.key = at(min(max(step, e.call), e.ret), phase)
		return e
	}
	e.ret = max(step, op.Call)
	if !op.pending() {
		e.ret = max(e.ret, op.Return)
	}
	e.key = at(max(step, op.Call), phase)
	return e
}

// doubtful is an operation of unknown outcome without a server log.
func doubtful(e event[model.QueueOp], op *Op, end int64) (event[model.QueueOp], bool) {
	switch {
	case op.Outcome == OpFailed:
		return e, false
	case !op.ok():
		e.op.Outcome, e.ret = model.Maybe, end+1
		e.key = at(e.ret, 0)
	}
	return e, true
}

// mayRepeat reports whether the call returned an element once more, which a queue that delivers at
// least once may do.
func mayRepeat(t queueTable, op *Op) bool {
	e := t.taken[op]
	return t.claims.MayDuplicate && e.offer != nil && len(e.takes) > 1 &&
		(t.log.known || e.takes[0] != op)
}

// readEvent places a peek or an empty answer at a step of the call at which it was right, if there
// is one.
func readEvent(t queueTable, op *Op) event[model.QueueOp] {
	kind := model.Take
	if op.Kind == ops.Peek {
		kind = model.Peek
	}
	e := callEvent(t, op, kind, op.Output)
	if step, ok := stateSeen(t, op, op.Call); ok {
		e.key = at(step, 2)
	}
	return e
}

// serverEvents are the changes of the queue without a call: elements that another client removed
// and, where a queue may duplicate, second copies.
func serverEvents(t queueTable) []event[model.QueueOp] {
	var list []event[model.QueueOp]
	add := func(kind model.QueueKind, value, text string, step, phase int64) {
		list = append(list, event[model.QueueOp]{
			op:   model.QueueOp{Kind: kind, Item: value},
			call: step, ret: step, key: at(step, phase), lane: "server", text: text,
		})
	}
	for _, e := range t.elements {
		if e.leavesModel() {
			continue
		}
		for i, z := range e.znodes {
			if i > 0 && t.claims.MayDuplicate {
				add(model.Offer, e.value, fmt.Sprintf("stores %s again", e.value), z.created, 0)
			}
			r, gone := t.removalOf(z)
			if gone && r.by == nil && (i == 0 || t.claims.MayDuplicate) {
				add(model.Take, e.value, fmt.Sprintf("loses %s", e.value), z.deleted, 1)
			}
		}
	}
	return list
}
