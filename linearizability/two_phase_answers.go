package linearizability

import "github.com/zksim/zksim/model"

// judgeAnswers checks what awaits returned: against each other, against the votes that
// were called, and against the log.
func (c *twoPhaseCase) judgeAnswers() Verdict {
	told := 0
	for _, op := range c.history.Ops {
		if op.Kind != KindAwait || !op.ok() {
			continue
		}
		told++
		t := c.transaction(operand(op, 0))
		for _, check := range []func(*transaction, Op) (Verdict, bool){c.toldOtherwise, c.toldWithoutVotes, c.toldWhatIsNot} {
			if v, bad := check(t, op); bad {
				return v
			}
		}
	}
	return fine(Answers, "%s, and all who were told of a transaction were told the same", count(told, "answer"))
}

// toldOtherwise: two were told the opposite.
func (c *twoPhaseCase) toldOtherwise(t *transaction, op Op) (Verdict, bool) {
	for _, other := range c.history.Ops {
		if other.Kind == KindAwait && other.ok() && operand(other, 0) == t.name && !op.Empty && !other.Empty && other.Output != op.Output {
			return violated(Answers, []int64{op.Return, other.Return}, "%s was told %s of %s at step %d, and %s %s at step %d",
				op.Client, op.Output, t.name, op.Return, other.Client, other.Output, other.Return), true
		}
	}
	return Verdict{}, false
}

// toldWithoutVotes: commit, though some site cannot have voted yes by then.
func (c *twoPhaseCase) toldWithoutVotes(t *transaction, op Op) (Verdict, bool) {
	if op.Output != CommitOutput {
		return Verdict{}, false
	}
	for _, site := range t.sites {
		if !c.mayHaveVoted(t, site, op.Return) {
			return violated(Answers, []int64{op.Return}, "%s was told commit of %s at step %d, but %s had not voted yes", op.Client, t.name, op.Return, site), true
		}
	}
	return Verdict{}, false
}

func (c *twoPhaseCase) mayHaveVoted(t *transaction, site string, by int64) bool {
	for _, op := range c.history.Ops {
		if op.Kind == KindVote && op.Input == t.name+" "+site+" yes" && op.Call <= by && op.Outcome != OpFailed {
			return true
		}
	}
	return false
}

// toldWhatIsNot: a decision that the server does not have, or that there is no
// transaction where there is one.
func (c *twoPhaseCase) toldWhatIsNot(t *transaction, op Op) (Verdict, bool) {
	learned := model.LearnCommit
	switch {
	case op.Empty:
		learned = model.LearnThereIsNone
	case op.Output == AbortOutput:
		learned = model.LearnAbort
	}
	switch {
	case !c.known || t.was(op, learned):
		return Verdict{}, false
	case op.Empty:
		return violated(Answers, []int64{op.Call, op.Return}, "%s was told at step %d that there is no %s, but there was", op.Client, op.Return, t.name), true
	}
	return violated(Answers, []int64{op.Call, op.Return}, "%s was told %s of %s at step %d, but the server had no such decision", op.Client, op.Output, t.name, op.Return), true
}

// judgeDelivery checks that what was acknowledged was done, that what failed was not,
// and that somebody had asked for all that was done.
func (c *twoPhaseCase) judgeDelivery() Verdict {
	for _, op := range c.history.Ops {
		if aboutTransaction(op) && op.ok() && !c.transaction(operand(op, 0)).shows(op) {
			return violated(Delivery, []int64{op.Call, op.Return}, "%s of %s was acknowledged, but the server never applied it", describe(op), op.Input)
		}
	}
	for _, t := range c.transactions {
		for _, f := range t.facts {
			if v, bad := c.unasked(t, f); bad {
				return v
			}
		}
	}
	return fine(Delivery, "all that was acknowledged was done, and nothing that was not asked for")
}

// shows reports whether the server shows what an operation has acknowledged.
func (t *transaction) shows(op Op) bool {
	switch op.Kind {
	case KindBegin:
		return t.step(model.BeginTransaction, "") <= op.Return && t.facts[t.fact(model.BeginTransaction, "")].event.Client == op.Client
	case KindVote:
		return t.step(voteOf(op), operand(op, 1)) <= op.Return
	case KindDone:
		return t.step(model.Finish, operand(op, 1)) <= op.Return || t.was(op, model.LearnThereIsNone)
	case KindForget:
		return t.was(op, model.LearnThereIsNone)
	}
	return true
}

func voteOf(op Op) model.TransactionKind {
	if operand(op, 2) == "yes" {
		return model.VoteYes
	}
	return model.VoteNo
}

// unasked finds a fact that no call accounts for, or only one that was said to have
// failed.
func (c *twoPhaseCase) unasked(t *transaction, f fact) (Verdict, bool) {
	failed := Op{}
	for _, op := range c.history.Ops {
		if f.change || !accounts(op, t, f) {
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
			"%s of %s was applied at step %d, although it said that it was not", describe(failed), failed.Input, f.event.Step), true
	}
	return violated(Delivery, []int64{f.event.Step}, "%s %s in %s at step %d, and no call accounts for that",
		ownerOr(f.event.Client, "somebody"), factNames[f.kind], t.name, f.event.Step), true
}

// accounts reports whether a fact may be the doing of an operation: of one that was
// given up also later.
func accounts(op Op, t *transaction, f fact) bool {
	if op.Call > f.event.Step || operand(op, 0) != t.name || f.event.Client != "" && op.Client != f.event.Client {
		return false
	}
	if op.Outcome != OpUnknown && op.end() < f.event.Step {
		return false
	}
	switch f.kind {
	case model.BeginTransaction:
		return op.Kind == KindBegin
	case model.VoteYes, model.VoteNo:
		return op.Kind == KindVote && operand(op, 1) == f.site && voteOf(op) == f.kind
	case model.Finish:
		return op.Kind == KindDone && operand(op, 1) == f.site
	case model.Forget:
		return op.Kind == KindForget
	}
	return false
}
