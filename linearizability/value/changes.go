package value

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// valueTable is one history of a shared value, and the call behind each change of it.
type valueTable struct {
	history lin.History
	claims  Claims
	known   bool          // the server's log is known
	states  []model.Value // before the first change and after each
	judging.Attribution
}

func newValueTable(h lin.History, claims Claims) *valueTable {
	t := &valueTable{history: h, claims: claims, known: h.Server != nil, states: []model.Value{{}}}
	var changes []lin.ServerEvent
	for _, e := range h.Server {
		if e.Path != claims.Path || judging.IsSessionEvent(e) {
			continue
		}
		// There is no next state if the deleted znode is older than the log.
		for _, next := range t.states[len(t.states)-1].Step(t.change(e)) {
			changes, t.states = append(changes, e), append(t.states, next)
		}
	}
	t.Attribution = judging.Attribute(h, changes,
		func(op lin.Op, i int) bool { return t.fits(op, changes[i]) })
	t.Stale = judging.StaleReads(h, claims.StaleReads)
	return t
}

// change is an event as an operation on the model.
func (t *valueTable) change(e lin.ServerEvent) model.ValueOp {
	if e.Kind == lin.NodeDeleted {
		return model.ValueOp{Kind: model.Remove}
	}
	data, _ := t.decode(e.Data)
	return model.ValueOp{Kind: model.Write, Data: data, Version: model.NoVersion}
}

func (t *valueTable) decode(data string) (string, bool) {
	if t.claims.Value != nil {
		return t.claims.Value(data)
	}
	return data, true
}

// fits reports whether an operation can have made a change. A remove that found nothing must not be
// mistaken for another remove of the same client.
func (t *valueTable) fits(op lin.Op, e lin.ServerEvent) bool {
	if e.Kind == lin.NodeDeleted {
		return op.Kind == ops.Remove && !isRefused(op)
	}
	value, ok := t.decode(e.Data)
	input, _ := cutVersion(op.Input)
	return ok && (op.Kind == ops.Write && op.Input == value || op.Kind == ops.CAS && input == value)
}

func isRefused(op lin.Op) bool { return op.OK() && op.Output == ops.Refused }

// effects turns the history into operations on the model.
func (t *valueTable) effects() []custom.Effect[model.ValueOp] {
	var list []custom.Effect[model.ValueOp]
	for n := range t.history.Ops {
		switch op := &t.history.Ops[n]; op.Kind {
		case ops.Read:
			if op.OK() {
				list = append(list, t.seen(op, readOp(*op))...)
			}
		case ops.Write, ops.CAS, ops.Remove:
			list = append(list, t.write(op, t.Of[n])...)
		}
	}
	for _, i := range t.Strays {
		list = append(list, t.byServer(i))
	}
	return list
}

func readOp(op lin.Op) model.ValueOp {
	data, version := cutVersion(op.Output)
	return model.ValueOp{Kind: model.Read, Data: data, Version: version, Absent: op.Empty}
}

// writeOp is the model's operation for a write, cas or remove, with the outcome that its client
// saw.
func writeOp(op lin.Op) model.ValueOp {
	o := model.ValueOp{Kind: model.Write, Data: op.Input, Version: model.NoVersion}
	switch op.Kind {
	case ops.CAS:
		o.Kind = model.CAS
		o.Data, o.Expect = cutVersion(op.Input)
		o.Refused = isRefused(op)
	case ops.Remove:
		o.Kind = model.Remove
		if isRefused(op) {
			return model.ValueOp{Kind: model.Read, Absent: true}
		}
	}
	if op.OK() && !o.Refused {
		_, o.Version = cutVersion(op.Output)
	}
	return o
}

// seen is the effect of a read, at a step at which the server's value was as reported.
func (t *valueTable) seen(op *lin.Op, o model.ValueOp) []custom.Effect[model.ValueOp] {
	looks := func(after int) bool { return len(t.states[after].Step(o)) > 0 }
	step, ordered := t.Read(op, looks)
	if !ordered {
		return nil
	}
	return []custom.Effect[model.ValueOp]{{By: op, Op: o, Read: true, Step: step}}
}

// write is the effect of a write and of its repetitions.
func (t *valueTable) write(op *lin.Op, changes []int) []custom.Effect[model.ValueOp] {
	o := writeOp(*op)
	e := custom.Effect[model.ValueOp]{By: op, Op: o}
	own := judging.OwnChange(changes,
		func(i int) bool { return t.states[i+1].Version == o.Version })
	switch {
	case isRefused(*op) && len(changes) == 0:
		return t.seen(op, o)
	case own >= 0:
		e.Step = t.Changes[own].Step
		stored := t.states[own+1]
		switch {
		case isRefused(*op):
			e.Text = fmt.Sprintf("%s(%s), which was told that it was refused,", op.Kind, op.Input)
		case o.Version != model.NoVersion && o.Version != stored.Version:
			e.Text = fmt.Sprintf("%s(%s), which stored %s and returned %s,", op.Kind, op.Input,
				showValue(stored), op.Output)
		}
	case op.Outcome == lin.OpFailed, !op.OK() && t.known:
		return nil
	case !op.OK():
		e.Op.Outcome = model.Maybe
	}
	return judging.WithRepetitions(e, own, changes, t.byServer)
}

// byServer is the effect of a change without an operation: a change without a call, or a
// repetition.
func (t *valueTable) byServer(i int) custom.Effect[model.ValueOp] {
	return custom.Effect[model.ValueOp]{
		Op: t.change(t.Changes[i]), Step: t.Changes[i].Step,
		Text: fmt.Sprintf("the value becomes %s", showValue(t.states[i+1])),
	}
}

// triedAgain says that the client of a call was cut off after a step of it: then the call did not
// get its reply and tried again. It is "" if the client was not.
func (t *valueTable) triedAgain(op lin.Op, from int64) string {
	cut, lost := judging.FirstNotice(t.history, op.Client, from, lin.Disconnected)
	if !lost || cut.Step > op.Return {
		return ""
	}
	return fmt.Sprintf(": its reply was lost at step %d, and it tried again with the old version",
		cut.Step)
}

// judgeDelivery checks the number of changes of each write.
func (t *valueTable) judgeDelivery() lin.Verdict {
	for n, op := range t.history.Ops {
		if op.Kind != ops.Write && op.Kind != ops.CAS && op.Kind != ops.Remove {
			continue
		}
		changes := t.MadeBy(n)
		if isRefused(op) && len(changes) > 0 {
			return judging.Violated(lin.Delivery, []int64{op.Call, changes[0].Step},
				"%s was told that it was refused, but the server applied it at step %d%s",
				judging.Describe(op), changes[0].Step, t.triedAgain(op, changes[0].Step))
		}
		if v, bad := judging.AppliedOnce(op, changes, t.claims.MayRepeat); bad && !isRefused(op) {
			return v
		}
	}
	for _, i := range t.Strays {
		e := t.Changes[i]
		if _, ok := t.decode(e.Data); !ok && e.Kind != lin.NodeDeleted {
			continue // no value yet: the znode was prepared
		}
		return judging.Violated(lin.Delivery, []int64{e.Step},
			"%s made the value %s at step %d%s, and no write accounts for that",
			judging.ByWhom(e, "somebody"), showValue(t.states[i+1]), e.Step,
			judging.During(t.history, e))
	}
	return judging.Fine(lin.Delivery, "every write was applied once, or was not said to be")
}
