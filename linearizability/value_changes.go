package linearizability

import (
	"fmt"

	"github.com/zksim/zksim/model"
)

// valueCase is one history of one shared value, prepared for judging.
type valueCase struct {
	history History
	opts    Value
	known   bool
	changes []ServerEvent
	states  []model.Value // before the first change and after each
	of      [][]int
	strays  []int
}

func newValueCase(h History, opts Value) *valueCase {
	c := &valueCase{history: h, opts: opts, known: h.Server != nil, states: []model.Value{{}}}
	for _, e := range h.Server {
		if e.Path != opts.Path || e.Kind != NodeCreated && e.Kind != DataChanged && e.Kind != NodeDeleted {
			continue
		}
		for _, next := range c.states[len(c.states)-1].Step(c.change(e)) { // none if what is deleted is older than the log
			c.changes, c.states = append(c.changes, e), append(c.states, next)
		}
	}
	c.of, c.strays = Attribute(h, c.changes, func(op Op, i int) bool { return c.fits(op, c.changes[i]) })
	return c
}

// change is an event as an operation on the model.
func (c *valueCase) change(e ServerEvent) model.ValueOp {
	if e.Kind == NodeDeleted {
		return model.ValueOp{Kind: model.Remove}
	}
	data, _ := c.decode(e.Data)
	return model.ValueOp{Kind: model.Write, Data: data, Version: model.NoVersion}
}

func (c *valueCase) decode(data string) (string, bool) {
	if c.opts.Value != nil {
		return c.opts.Value(data)
	}
	return data, true
}

func (c *valueCase) fits(op Op, e ServerEvent) bool {
	if e.Kind == NodeDeleted { // one that found nothing must not pass for the client's other one that did
		return op.Kind == KindRemove && !(op.ok() && op.Output == Refused)
	}
	value, ok := c.decode(e.Data)
	return ok && (op.Kind == KindWrite && op.Input == value || op.Kind == KindCAS && valueOf(op.Input) == value)
}

func valueOf(text string) string {
	value, _ := cutVersion(text)
	return value
}

// effects turns the history into operations on the model.
func (c *valueCase) effects() []Effect[model.ValueOp] {
	var list []Effect[model.ValueOp]
	for n := range c.history.Ops {
		switch op := &c.history.Ops[n]; op.Kind {
		case KindRead:
			if op.ok() {
				list = append(list, c.seen(op, readOp(*op)))
			}
		case KindWrite, KindCAS, KindRemove:
			list = append(list, c.write(op, c.of[n])...)
		}
	}
	for _, i := range c.strays {
		list = append(list, c.byServer(i))
	}
	return list
}

func readOp(op Op) model.ValueOp {
	data, version := cutVersion(op.Output)
	return model.ValueOp{Kind: model.Read, Data: data, Version: version, Absent: op.Empty}
}

// writeOp is a write, cas or remove as its client saw it.
func writeOp(op Op) model.ValueOp {
	o := model.ValueOp{Kind: model.Write, Data: op.Input, Version: model.NoVersion}
	switch op.Kind {
	case KindCAS:
		o.Kind = model.CAS
		o.Data, o.Expect = cutVersion(op.Input)
		o.Refused = op.ok() && op.Output == Refused
	case KindRemove:
		o.Kind = model.Remove
		if op.ok() && op.Output == Refused {
			return model.ValueOp{Kind: model.Read, Absent: true}
		}
	}
	if op.ok() && !o.Refused {
		_, o.Version = cutVersion(op.Output)
	}
	return o
}

// seen is the effect of an operation that changes nothing, where the server's
// value was as it saw it.
func (c *valueCase) seen(op *Op, o model.ValueOp) Effect[model.ValueOp] {
	return Effect[model.ValueOp]{By: op, Op: o, Read: true,
		Step: seenAt(*op, c.changes, func(after int) bool { return len(c.states[after].Step(o)) > 0 })}
}

// write is the effect of a write and of its repetitions.
func (c *valueCase) write(op *Op, changes []int) []Effect[model.ValueOp] {
	o := writeOp(*op)
	e := Effect[model.ValueOp]{By: op, Op: o}
	own := ownChange(changes, func(i int) bool { return c.states[i+1].Version == o.Version })
	switch {
	case op.ok() && op.Output == Refused && len(changes) == 0:
		e = c.seen(op, o)
	case own >= 0:
		e.Step = c.changes[own].Step
	case op.Outcome == OpFailed, !op.ok() && c.known:
		return nil
	case !op.ok():
		e.Op.Outcome = model.Maybe
	}
	list := []Effect[model.ValueOp]{e}
	for _, i := range changes {
		if i != own {
			list = append(list, c.byServer(i))
		}
	}
	return list
}

// byServer is a change that no operation asked for, or not again.
func (c *valueCase) byServer(i int) Effect[model.ValueOp] {
	return Effect[model.ValueOp]{Op: c.change(c.changes[i]), Step: c.changes[i].Step,
		Text: fmt.Sprintf("the value becomes %s", showValue(c.states[i+1]))}
}

// judgeDelivery checks that every write is applied as often as it should be.
func (c *valueCase) judgeDelivery() Verdict {
	for n, op := range c.history.Ops {
		if op.Kind != KindWrite && op.Kind != KindCAS && op.Kind != KindRemove {
			continue
		}
		var changes []ServerEvent
		for _, i := range c.of[n] {
			changes = append(changes, c.changes[i])
		}
		refused := op.ok() && op.Output == Refused
		if refused && len(changes) > 0 {
			return violated(Delivery, []int64{op.Call, changes[0].Step},
				"%s was told that it was refused, but the server applied it at step %d", describe(op), changes[0].Step)
		}
		if v, bad := deliveredOnce(op, changes, c.opts.MayRepeat); bad && !refused {
			return v
		}
	}
	for _, i := range c.strays {
		e := c.changes[i]
		if _, ok := c.decode(e.Data); !ok && e.Kind != NodeDeleted {
			continue // no value yet: the znode was prepared
		}
		return violated(Delivery, []int64{e.Step}, "%s made the value %s at step %d, and no write accounts for that",
			ownerOr(e.Client, "somebody"), showValue(c.states[i+1]), e.Step)
	}
	return fine(Delivery, "every write was applied once, or was not said to be")
}
