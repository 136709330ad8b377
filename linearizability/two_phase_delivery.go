package linearizability

import (
	"cmp"

	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// judgeDelivery checks that acknowledged calls took effect, that failed calls did not, and that
// each change has a call.
func (t *twoPhaseTable) judgeDelivery() Verdict {
	for _, op := range t.history.Ops {
		if aboutTransaction(op) && op.ok() && !t.transaction(operand(op, 0)).shows(op) {
			return violated(Delivery, []int64{op.Call, op.Return},
				"%s of %s was acknowledged, but the server never applied it",
				describe(op), op.Input)
		}
	}
	for _, tx := range t.transactions {
		for _, f := range tx.facts {
			if v, bad := t.notAskedFor(tx, f); bad {
				return v
			}
		}
	}
	return fine(Delivery, "all that was acknowledged was done, and nothing that was not asked for")
}

// shows reports whether the server shows the effect of an acknowledged operation.
func (tx *transaction) shows(op Op) bool {
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

func voteOf(op Op) model.TransactionKind {
	if operand(op, 2) == "yes" {
		return model.VoteYes
	}
	return model.VoteNo
}

// notAskedFor reports a fact without a call that may have caused it; calls that reported failure do
// not count.
func (t *twoPhaseTable) notAskedFor(tx *transaction, f fact) (v Verdict, bad bool) {
	failed := Op{}
	for _, op := range t.history.Ops {
		if f.change || !mayHaveCaused(op, tx, f) {
			continue
		}
		if op.Outcome != OpFailed {
			return Verdict{}, false
		}
		failed = op
	}
	switch {
	case f.change || f.kind == model.Commit || f.kind == model.Abort || f.kind == model.GoAway:
		return Verdict{}, false
	case failed.Kind != "":
		return violated(Delivery, []int64{failed.Call, f.event.Step},
			"%s of %s was applied at step %d, although it said that it was not",
			describe(failed), failed.Input, f.event.Step), true
	}
	return violated(Delivery, []int64{f.event.Step},
		"%s %s in %s at step %d, and no call accounts for that",
		cmp.Or(f.event.Client, "somebody"), factNames[f.kind], tx.name, f.event.Step), true
}

// mayHaveCaused reports whether a fact may be the effect of an operation. An abandoned operation
// may have its effect later.
func mayHaveCaused(op Op, tx *transaction, f fact) bool {
	if op.Call > f.event.Step || operand(op, 0) != tx.name ||
		f.event.Client != "" && op.Client != f.event.Client {
		return false
	}
	if op.Outcome != OpUnknown && End(op) < f.event.Step {
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
