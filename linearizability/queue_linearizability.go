package linearizability

import (
	"fmt"

	"github.com/zksim/zksim/model"
)

var queueObject = object[model.Queue, model.QueueOp]{
	step: model.Queue.Step,
	show: model.Queue.String,
}

// queueEvents turns the history into operations on the model, whose fates are
// known if there is a server log.
func (c *queueCase) queueEvents() []event[model.QueueOp] {
	var list []event[model.QueueOp]
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		var e event[model.QueueOp]
		keep := false
		switch {
		case c.isLeftOut(op):
		case op.Kind == KindOffer:
			e, keep = c.offerEvent(op)
		case (isTake(op) && op.Empty || op.Kind == KindPeek) && op.ok():
			e, keep = c.readEvent(op), !c.opts.StaleReads
		case isTake(op):
			e, keep = c.takeEvent(op)
		}
		if keep {
			list = append(list, e)
		}
	}
	return append(list, c.serverEvents()...)
}

// base fills in what all operations of a client share.
func (c *queueCase) base(op *Op, kind model.QueueKind, item string) event[model.QueueOp] {
	e := event[model.QueueOp]{
		op:   model.QueueOp{Kind: kind, Item: item, Empty: op.Empty && op.ok()},
		call: op.Call, ret: op.end(), lane: op.Client, note: note(*op),
		text: fmt.Sprintf("%s() -> %s", op.Kind, item),
	}
	switch {
	case kind == model.Offer:
		e.text = fmt.Sprintf("offer(%s)", item)
	case op.Empty:
		e.text = op.Kind + "() -> empty"
	}
	if op.pending() {
		e.ret = c.history.End + 1
	}
	if !op.ok() {
		e.text += " (" + op.Outcome.String() + ")"
	}
	e.key = at(e.ret, 0)
	return e
}

func (c *queueCase) offerEvent(op *Op) (event[model.QueueOp], bool) {
	e := c.base(op, model.Offer, op.Input)
	lives := c.byValue[op.Input].lives
	switch {
	case len(lives) > 0:
		return applied(e, op, lives[0].born, 0), true
	case c.log.known:
		return e, false // it never took effect, whatever its client was told
	}
	return doubtful(e, op, c.history.End)
}

func (c *queueCase) takeEvent(op *Op) (event[model.QueueOp], bool) {
	if r, ok := c.removedBy(op); ok {
		value, _ := c.decode(r.life.path, r.life.data)
		return applied(c.base(op, model.Take, value), op, r.life.died, 1), true
	}
	e := c.base(op, model.Take, op.Output)
	if op.ok() {
		return e, !c.mayRepeat(op)
	}
	if c.log.known {
		return e, false
	}
	return doubtful(e, op, c.history.End)
}

// applied places an operation at the step at which the server did it. The call
// may have returned before that, if the outcome is unknown.
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

// doubtful is an operation without a server log to look its fate up in.
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

// mayRepeat reports whether the call handed out an element once more, which a
// queue that delivers at least once may do.
func (c *queueCase) mayRepeat(op *Op) bool {
	e := c.byValue[op.Output]
	return c.opts.MayDuplicate && e.offer != nil && len(e.takes) > 1 && (c.log.known || e.takes[0] != op)
}

// readEvent places a peek or an empty answer where the server's queue was like
// that, if it ever was during the call.
func (c *queueCase) readEvent(op *Op) event[model.QueueOp] {
	kind := model.Take
	if op.Kind == KindPeek {
		kind = model.Peek
	}
	e := c.base(op, kind, op.Output)
	if step, ok := c.stateSeen(op, op.Call); ok {
		e.key = at(step, 2)
	}
	return e
}

// serverEvents are the changes of the queue that no call accounts for: elements
// removed by somebody else, and, where a queue may duplicate, second copies.
func (c *queueCase) serverEvents() []event[model.QueueOp] {
	var list []event[model.QueueOp]
	add := func(kind model.QueueKind, value, text string, step, phase int64) {
		list = append(list, event[model.QueueOp]{op: model.QueueOp{Kind: kind, Item: value},
			call: step, ret: step, key: at(step, phase), lane: "server", text: text})
	}
	for _, e := range c.elements {
		if e.isPutBack() || c.mayBeDiscarded(e) {
			continue // see isLeftOut
		}
		for i, l := range e.lives {
			if i > 0 && c.opts.MayDuplicate {
				add(model.Offer, e.value, fmt.Sprintf("stores %s again", e.value), l.born, 0)
			}
			if r, gone := c.removed(l); gone && r.by == nil && (i == 0 || c.opts.MayDuplicate) {
				add(model.Take, e.value, fmt.Sprintf("loses %s", e.value), l.died, 1)
			}
		}
	}
	return list
}
