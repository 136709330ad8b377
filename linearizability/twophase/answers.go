package twophase

import (
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// judgeAnswers compares the results of awaits with each other, with the calls of vote, and with the
// log.
func (t *table) judgeAnswers() lin.Verdict {
	checks := []func(*transaction, lin.Op) (lin.Verdict, bool){
		t.oppositeAnswer, t.answerWithoutVotes, t.answerUnlikeServer,
	}
	answers := 0
	for _, op := range t.history.Ops {
		if op.Kind != ops.Await || !op.OK() {
			continue
		}
		answers++
		tx := t.transaction(operand(op, 0))
		for _, check := range checks {
			if v, bad := check(tx, op); bad {
				return v
			}
		}
	}
	return judging.Fine(lin.Answers, "%s, and all who were told of a transaction were told the same",
		judging.Count(answers, "answer"))
}

// oppositeAnswer looks for an await that returned the opposite decision of another await.
func (t *table) oppositeAnswer(tx *transaction, op lin.Op) (v lin.Verdict, bad bool) {
	for _, other := range t.history.Ops {
		if other.Kind == ops.Await && other.OK() && operand(other, 0) == tx.name &&
			!op.Empty && !other.Empty && other.Output != op.Output {
			return judging.Violated(lin.Answers, []int64{op.Return, other.Return},
				"%s was told %s of %s at step %d, and %s %s at step %d",
				op.Client, op.Output, tx.name, op.Return,
				other.Client, other.Output, other.Return), true
		}
	}
	return lin.Verdict{}, false
}

// answerWithoutVotes looks for an await that returned commit although some site cannot have voted
// yes by then.
func (t *table) answerWithoutVotes(tx *transaction, op lin.Op) (v lin.Verdict, bad bool) {
	if op.Output != ops.Commit {
		return lin.Verdict{}, false
	}
	for _, site := range tx.sites {
		if !t.mayHaveVoted(tx, site, op.Return) {
			return judging.Violated(lin.Answers, []int64{op.Return},
				"%s was told commit of %s at step %d, but %s had not voted yes",
				op.Client, tx.name, op.Return, site), true
		}
	}
	return lin.Verdict{}, false
}

func (t *table) mayHaveVoted(tx *transaction, site string, by int64) bool {
	for _, op := range t.history.Ops {
		if op.Kind == ops.Vote && op.Input == tx.name+" "+site+" yes" && op.Call <= by &&
			op.Outcome != lin.OpFailed {
			return true
		}
	}
	return false
}

// answerUnlikeServer looks for a decision that the server does not have, and for the answer "no
// transaction" while the transaction exists.
func (t *table) answerUnlikeServer(tx *transaction, op lin.Op) (v lin.Verdict, bad bool) {
	learned := model.LearnCommit
	switch {
	case op.Empty:
		learned = model.LearnThereIsNone
	case op.Output == ops.Abort:
		learned = model.LearnAbort
	}
	since := op.Call
	if t.claims.StaleReads {
		since = 0
	}
	switch {
	case !t.known || tx.allowsSince(since, op, learned):
		return lin.Verdict{}, false
	case op.Empty:
		return judging.Violated(lin.Answers, []int64{op.Call, op.Return},
			"%s was told at step %d that there is no %s, but there was",
			op.Client, op.Return, tx.name), true
	}
	return judging.Violated(lin.Answers, []int64{op.Call, op.Return},
		"%s was told %s of %s at step %d, but the server had no such decision",
		op.Client, op.Output, tx.name, op.Return), true
}
