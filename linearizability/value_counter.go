package linearizability

import (
	"fmt"
	"strconv"

	"github.com/zksim/zksim/model"
)

// The kinds of operations of a counter.
const (
	KindAdd = "add" // Input is the number to add, Output the value after that, or "" if not known
	KindGet = "get" // Output is the value
)

// Counter say what a counter claims to be.
type Counter struct {
	// Path is the counter's znode.
	Path string
	// Start is the value of a counter that nobody has added to.
	Start int64
	// Value reads the znode's data, and reports false if it holds no value yet; nil
	// reads decimal digits.
	Value func(data string) (int64, bool)
	// MayRepeat: an add whose outcome was unknown meanwhile may be applied more
	// than once.
	MayRepeat bool
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

// JudgeCounter judges the history of one counter: operations of the kinds
// [KindAdd] and [KindGet]; others are ignored. Rest may be nil. It panics if an add
// has no number as its input.
//
// With the server's log every fate is known: an unknown add took effect if its
// client changed the znode by its number from the call on. Then delivery is
// judged, too: every add that succeeded is applied, none twice, none that was
// said to have failed, and nothing else changes the value.
func (opts Counter) judge(h History, rest *Leftovers) Report {
	c := newCounterCase(h.sorted(), opts)
	r := Judge(h, rest, Object[model.Counter, model.CounterOp]{
		Noun: "counter", Start: model.Counter(opts.Start), Step: model.Counter.Step,
		Effects: func(History) []Effect[model.CounterOp] { return c.effects() },
		Path:    opts.Path, AllowedAtRest: opts.AllowedAtRest,
	})
	if c.known {
		r.insert(c.judgeDelivery())
	}
	return r
}

// counterCase is one history of one counter, prepared for judging.
type counterCase struct {
	history History
	opts    Counter
	known   bool
	changes []ServerEvent
	values  []int64 // before the first change and after each
	of      [][]int
	strays  []int
}

func newCounterCase(h History, opts Counter) *counterCase {
	c := &counterCase{history: h, opts: opts, known: h.Server != nil, values: []int64{opts.Start}}
	for _, e := range h.Server {
		if value, ok := c.valueAfter(e); ok && value != c.values[len(c.values)-1] {
			c.changes, c.values = append(c.changes, e), append(c.values, value)
		}
	}
	c.of, c.strays = Attribute(h, c.changes, func(op Op, i int) bool {
		return op.Kind == KindAdd && deltaOf(op) == c.values[i+1]-c.values[i]
	})
	return c
}

// valueAfter is the counter's value after an event, if that is about it.
func (c *counterCase) valueAfter(e ServerEvent) (int64, bool) {
	switch {
	case e.Path != c.opts.Path:
		return 0, false
	case e.Kind == NodeDeleted:
		return c.opts.Start, true
	case e.Kind != NodeCreated && e.Kind != DataChanged:
		return 0, false
	case c.opts.Value != nil:
		return c.opts.Value(e.Data)
	}
	value, err := strconv.ParseInt(e.Data, 10, 64)
	return value, err == nil
}

func deltaOf(op Op) int64 {
	delta, err := strconv.ParseInt(op.Input, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("linearizability: %s: the input of an add is %q; expected a number", describe(op), op.Input))
	}
	return delta
}

// effects turns the history into operations on the model.
func (c *counterCase) effects() []Effect[model.CounterOp] {
	var list []Effect[model.CounterOp]
	for n := range c.history.Ops {
		switch op := &c.history.Ops[n]; op.Kind {
		case KindGet:
			if e, ok := c.get(op); ok {
				list = append(list, e)
			}
		case KindAdd:
			list = append(list, c.add(op, c.of[n])...)
		}
	}
	for _, i := range c.strays {
		list = append(list, c.byServer(i))
	}
	return list
}

func (c *counterCase) get(op *Op) (Effect[model.CounterOp], bool) {
	value, err := strconv.ParseInt(op.Output, 10, 64)
	e := Effect[model.CounterOp]{By: op, Op: model.CounterOp{Kind: model.Get, Value: value, Known: true}, Read: true}
	e.Step = seenAt(*op, c.changes, func(after int) bool { return c.values[after] == value })
	return e, op.ok() && err == nil
}

// add is the effect of an add and of its repetitions.
func (c *counterCase) add(op *Op, changes []int) []Effect[model.CounterOp] {
	e := Effect[model.CounterOp]{By: op, Op: model.CounterOp{Kind: model.Add, Delta: deltaOf(*op)}}
	if value, err := strconv.ParseInt(op.Output, 10, 64); op.ok() && err == nil {
		e.Op.Value, e.Op.Known = value, true
	}
	own := ownChange(changes, func(i int) bool { return e.Op.Known && c.values[i+1] == e.Op.Value })
	switch {
	case own >= 0:
		e.Step = c.changes[own].Step
	case op.Outcome == OpFailed, !op.ok() && c.known:
		return nil
	case !op.ok():
		e.Op.Outcome = model.Maybe
	}
	list := []Effect[model.CounterOp]{e}
	for _, i := range changes {
		if i != own {
			list = append(list, c.byServer(i))
		}
	}
	return list
}

// byServer is a change that no operation asked for, or not again.
func (c *counterCase) byServer(i int) Effect[model.CounterOp] {
	return Effect[model.CounterOp]{
		Op:   model.CounterOp{Kind: model.Add, Delta: c.values[i+1] - c.values[i]},
		Step: c.changes[i].Step, Text: fmt.Sprintf("the value goes from %d to %d", c.values[i], c.values[i+1]),
	}
}

// judgeDelivery checks that every add is applied as often as it should be.
func (c *counterCase) judgeDelivery() Verdict {
	for n, op := range c.history.Ops {
		if op.Kind == KindAdd {
			if v, bad := deliveredOnce(op, c.eventsOf(n), c.opts.MayRepeat); bad {
				return v
			}
		}
	}
	for _, i := range c.strays {
		e := c.changes[i]
		return violated(Delivery, []int64{e.Step}, "%s changed the counter from %d to %d at step %d, and no add accounts for that",
			ownerOr(e.Client, "somebody"), c.values[i], c.values[i+1], e.Step)
	}
	return fine(Delivery, "every add was applied once, or was not said to be")
}

func (c *counterCase) eventsOf(n int) []ServerEvent {
	var list []ServerEvent
	for _, i := range c.of[n] {
		list = append(list, c.changes[i])
	}
	return list
}

// deliveredOnce judges the changes that the server made for one write.
func deliveredOnce(op Op, changes []ServerEvent, mayRepeat bool) (Verdict, bool) {
	switch {
	case len(changes) > 0 && op.Outcome == OpFailed:
		return violated(Delivery, []int64{op.Call, changes[0].Step},
			"%s was applied at step %d, although it said that it was not", describe(op), changes[0].Step), true
	case len(changes) == 0 && op.ok():
		return violated(Delivery, []int64{op.Call, op.Return}, "%s was acknowledged, but the server never applied it", describe(op)), true
	case len(changes) > 1 && !mayRepeat:
		return violated(Delivery, []int64{changes[0].Step, changes[1].Step},
			"%s was applied twice: at steps %d and %d", describe(op), changes[0].Step, changes[1].Step), true
	}
	return Verdict{}, false
}
