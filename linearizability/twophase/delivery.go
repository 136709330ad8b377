package twophase

import (
	"cmp"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// judgeDelivery checks that acknowledged calls took effect, that failed calls did not, and that
// each change has a call.
func (t *table) judgeDelivery() lin.Verdict {
	for _, op := range t.history.Ops {
		if aboutTransaction(op) && op.OK() && !t.transaction(operand(op, 0)).shows(op) {
			return judging.Violated(lin.Delivery, []int64{op.Call, op.Return},
				"%s of %s was acknowledged, but the server never applied it",
				judging.Describe(op), op.Input)
		}
	}
	for _, tx := range t.transactions {
		for _, f := range tx.facts {
			if v, bad := t.notAskedFor(tx, f); bad {
				return v
			}
		}
	}
	return judging.Fine(lin.Delivery, "all that was acknowledged was done, and nothing that was not asked for")
}

// shows reports whether the server shows the effect of an acknowledged operation.
func (tx *transaction) shows(op lin.Op) bool {
	switch op.Kind {
	case ops.Begin:
		return tx.step(model.BeginTransaction, "") <= op.Return &&
			tx.facts[tx.fact(model.BeginTransaction, "")].event.Client == op.Client
	case ops.Vote:
		return tx.step(voteOf(op), operand(op, 1)) <= op.Return
	case ops.Done:
		return tx.step(model.Finish, operand(op, 1)) <= op.Return ||
			tx.allows(op, model.LearnThereIsNone)
	case ops.Forget:
		return tx.allows(op, model.LearnThereIsNone)
	}
	return true
}

func voteOf(op lin.Op) model.TransactionKind {
	if operand(op, 2) == "yes" {
		return model.VoteYes
	}
	return model.VoteNo
}

// notAskedFor reports a fact without a call that may have caused it; calls that reported failure do
// not count.
func (t *table) notAskedFor(tx *transaction, f fact) (v lin.Verdict, bad bool) {
	failed := lin.Op{}
	for _, op := range t.history.Ops {
		if f.change || !mayHaveCaused(op, tx, f) {
			continue
		}
		if op.Outcome != lin.OpFailed {
			return lin.Verdict{}, false
		}
		failed = op
	}
	switch {
	case f.change || f.kind == model.Commit || f.kind == model.Abort || f.kind == model.GoAway:
		return lin.Verdict{}, false
	case failed.Kind != "":
		return judging.Violated(lin.Delivery, []int64{failed.Call, f.event.Step},
			"%s of %s was applied at step %d, although it said that it was not",
			judging.Describe(failed), failed.Input, f.event.Step), true
	}
	return judging.Violated(lin.Delivery, []int64{f.event.Step},
		"%s %s in %s at step %d, and no call accounts for that",
		cmp.Or(f.event.Client, "somebody"), factNames[f.kind], tx.name, f.event.Step), true
}

// mayHaveCaused reports whether a fact may be the effect of an operation. An abandoned operation
// may have its effect later.
func mayHaveCaused(op lin.Op, tx *transaction, f fact) bool {
	if op.Call > f.event.Step || operand(op, 0) != tx.name ||
		f.event.Client != "" && op.Client != f.event.Client {
		return false
	}
	if op.Outcome != lin.OpUnknown && judging.End(op) < f.event.Step {
		return false
	}
	switch f.kind {
	case model.BeginTransaction:
		return op.Kind == ops.Begin
	case model.VoteYes, model.VoteNo:
		return op.Kind == ops.Vote && operand(op, 1) == f.site && voteOf(op) == f.kind
	case model.Finish:
		return op.Kind == ops.Done && operand(op, 1) == f.site
	case model.Forget:
		return op.Kind == ops.Forget
	}
	return false
}
