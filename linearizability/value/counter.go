package value

import (
	"fmt"
	"strconv"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// Counter claims to be a counter. Its calls are [ops.Add] and [ops.Get].
//
// The server's log settles calls of unknown outcome: an add took effect if its client changed the
// znode by its number after the call. With the log delivery is judged, too: each successful add is
// applied once, a failed add never, and nothing else changes the value.
type Counter struct {
	// Path is the counter's znode.
	Path  string
	Start int64 // the value before the first add
	// Value reads the znode's data, and reports false if it holds no value yet; nil reads decimal
	// digits.
	Value      func(data string) (int64, bool)
	StaleReads bool // as in [Claims]
	// MayRepeat: an add that its recipe retried after an unknown outcome may be applied more than
	// once.
	MayRepeat bool
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

// Properties implements [lin.Claims].
func (Counter) Properties() []string {
	return []string{lin.Linearizability, lin.Delivery, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Counter) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	t := newCounterTable(h.Sorted(), claims)
	r := custom.Object[model.Counter, model.CounterOp]{
		Noun: "counter", Start: model.Counter(claims.Start), Step: model.Counter.Step,
		Effects: func(lin.History) []custom.Effect[model.CounterOp] { return t.effects() },
		Path:    claims.Path, AllowedAtRest: claims.AllowedAtRest,
	}.Judge(h, left)
	if t.known {
		r.Add(t.judgeDelivery())
		judging.Prefer(&r, lin.Delivery)
	}
	claims.StaleReads = true
	t.JudgeReads(t.history, left, &r, claims)
	return r
}

// counterTable is one history of a counter, and the call behind each change of it.
type counterTable struct {
	history lin.History
	claims  Counter
	known   bool    // the server's log is known
	values  []int64 // before the first change and after each
	judging.Attribution
}

func newCounterTable(h lin.History, claims Counter) *counterTable {
	t := &counterTable{history: h, claims: claims, known: h.Server != nil,
		values: []int64{claims.Start}}
	var changes []lin.ServerEvent
	for _, e := range h.Server {
		if value, ok := t.valueAfter(e); ok && value != t.values[len(t.values)-1] {
			changes, t.values = append(changes, e), append(t.values, value)
		}
	}
	t.Attribution = judging.Attribute(h, changes, func(op lin.Op, i int) bool {
		return op.Kind == ops.Add && deltaOf(op) == t.values[i+1]-t.values[i]
	})
	t.Stale = judging.StaleReads(h, claims.StaleReads)
	return t
}

// valueAfter is the counter's value after an event, if the event changes the counter.
func (t *counterTable) valueAfter(e lin.ServerEvent) (value int64, ok bool) {
	switch {
	case e.Path != t.claims.Path:
		return 0, false
	case e.Kind == lin.NodeDeleted:
		return t.claims.Start, true
	case e.Kind != lin.NodeCreated && e.Kind != lin.DataChanged:
		return 0, false
	case t.claims.Value != nil:
		return t.claims.Value(e.Data)
	}
	value, err := strconv.ParseInt(e.Data, 10, 64)
	return value, err == nil
}

func deltaOf(op lin.Op) int64 {
	delta, err := strconv.ParseInt(op.Input, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("linearizability: %s: the input of an add is %q; expected a number",
			judging.Describe(op), op.Input))
	}
	return delta
}

// effects turns the history into operations on the model.
func (t *counterTable) effects() []custom.Effect[model.CounterOp] {
	var list []custom.Effect[model.CounterOp]
	for n := range t.history.Ops {
		switch op := &t.history.Ops[n]; op.Kind {
		case ops.Get:
			if e, ok := t.get(op); ok {
				list = append(list, e)
			}
		case ops.Add:
			list = append(list, t.add(op, t.Of[n])...)
		}
	}
	for _, i := range t.Strays {
		list = append(list, t.byServer(i))
	}
	return list
}

func (t *counterTable) get(op *lin.Op) (e custom.Effect[model.CounterOp], ok bool) {
	value, err := strconv.ParseInt(op.Output, 10, 64)
	e.By, e.Read, e.Op = op, true, model.CounterOp{Kind: model.Get, Value: value, Known: true}
	if op.OK() && err == nil {
		e.Step, ok = t.Read(op, func(after int) bool { return t.values[after] == value })
	}
	return e, ok
}

// add is the effect of an add and of its repetitions.
func (t *counterTable) add(op *lin.Op, changes []int) []custom.Effect[model.CounterOp] {
	e := custom.Effect[model.CounterOp]{By: op,
		Op: model.CounterOp{Kind: model.Add, Delta: deltaOf(*op)}}
	if value, err := strconv.ParseInt(op.Output, 10, 64); op.OK() && err == nil {
		e.Op.Value, e.Op.Known = value, true
	}
	own := judging.OwnChange(changes,
		func(i int) bool { return e.Op.Known && t.values[i+1] == e.Op.Value })
	switch {
	case own >= 0:
		e.Step = t.Changes[own].Step
		e.Text = wrongResult(*op, e.Op, t.values[own+1])
	case op.Outcome == lin.OpFailed, !op.OK() && t.known:
		return nil
	case !op.OK():
		e.Op.Outcome = model.Maybe
	}
	return judging.WithRepetitions(e, own, changes, t.byServer)
}

// byServer is the effect of a change without a call, or of a repetition.
func (t *counterTable) byServer(i int) custom.Effect[model.CounterOp] {
	return custom.Effect[model.CounterOp]{
		Op:   model.CounterOp{Kind: model.Add, Delta: t.values[i+1] - t.values[i]},
		Step: t.Changes[i].Step,
		Text: fmt.Sprintf("the value goes from %d to %d", t.values[i], t.values[i+1]),
	}
}

// judgeDelivery checks the number of changes of each add.
func (t *counterTable) judgeDelivery() lin.Verdict {
	for n, op := range t.history.Ops {
		if op.Kind == ops.Add {
			if v, bad := judging.AppliedOnce(op, t.MadeBy(n), t.claims.MayRepeat); bad {
				return t.wroteInstead(op, n, v)
			}
		}
	}
	for _, i := range t.Strays {
		return t.strayVerdict(i)
	}
	return judging.Fine(lin.Delivery, "every add was applied once, or was not said to be")
}
