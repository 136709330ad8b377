package model

import (
	"testing"
)

// open returns an undecided transaction of two sites, 1 and 2, after a change.
func open(change func(t *Transaction)) Transaction {
	t := Transaction{Phase: Undecided, Sites: 3}
	if change != nil {
		change(&t)
	}
	return t
}

func in(phase TransactionPhase) Transaction {
	return open(func(t *Transaction) { t.Phase = phase })
}

func TestTransactionStep(t *testing.T) {
	yes := func(s Sites) Transaction { return open(func(t *Transaction) { t.Yes = s }) }
	no := open(func(t *Transaction) { t.No = 1 })
	gone := open(func(t *Transaction) { t.Gone = 1 })
	finished := open(func(t *Transaction) { t.Phase, t.Yes, t.Done = Committed, 3, 3 })
	half := open(func(t *Transaction) { t.Phase, t.Yes, t.Done = Committed, 3, 1 })
	committed := open(func(t *Transaction) { t.Phase, t.Yes = Committed, 3 })
	checkSteps(t, Transaction.Step, []stepTest[Transaction, TransactionOp]{
		{"begun", Transaction{}, TransactionOp{Kind: BeginTransaction, Sites: 3},
			[]Transaction{open(nil)}},
		{"begun again", open(nil), TransactionOp{Kind: BeginTransaction, Sites: 3}, nil},
		{"begun once more", in(Forgotten), TransactionOp{Kind: BeginTransaction, Sites: 3}, nil},
		{"maybe begun", Transaction{}, TransactionOp{Kind: BeginTransaction, Sites: 3,
			Outcome: Maybe}, []Transaction{{}, open(nil)}},
		{"yes", open(nil), TransactionOp{Kind: VoteYes, Sites: 1}, []Transaction{yes(1)}},
		{"no", open(nil), TransactionOp{Kind: VoteNo, Sites: 1}, []Transaction{no}},
		{"another vote", no, TransactionOp{Kind: VoteYes, Sites: 1}, nil},
		{"the same vote again", no, TransactionOp{Kind: VoteNo, Sites: 1}, nil},
		{"a vote that was answered with an error", no,
			TransactionOp{Kind: VoteYes, Sites: 1, Outcome: NoEffect}, []Transaction{no}},
		{"a stranger's vote", open(nil), TransactionOp{Kind: VoteYes, Sites: 4}, nil},
		{"a late vote", in(Aborted), TransactionOp{Kind: VoteYes, Sites: 1},
			[]Transaction{open(func(t *Transaction) { t.Phase, t.Yes = Aborted, 1 })}},
		{"a vote where there is nothing", Transaction{}, TransactionOp{Kind: VoteYes}, nil},
		{"gone", open(nil), TransactionOp{Kind: GoAway, Sites: 1}, []Transaction{gone}},
		{
			"gone after its vote", yes(1), TransactionOp{Kind: GoAway, Sites: 1},
			[]Transaction{yes(1)},
		},
		{"committed", yes(3), TransactionOp{Kind: Commit}, []Transaction{committed}},
		{"committed without a vote", yes(1), TransactionOp{Kind: Commit}, nil},
		{"committed after a no", no, TransactionOp{Kind: Commit}, nil},
		{"committed again", committed, TransactionOp{Kind: Commit}, nil},
		{"aborted for a no", no, TransactionOp{Kind: Abort},
			[]Transaction{open(func(t *Transaction) { t.Phase, t.No = Aborted, 1 })}},
		{"aborted for one who has gone", gone, TransactionOp{Kind: Abort},
			[]Transaction{open(func(t *Transaction) { t.Phase, t.Gone = Aborted, 1 })}},
		{"aborted at the deadline", yes(1), TransactionOp{Kind: Abort, Late: true},
			[]Transaction{open(func(t *Transaction) { t.Phase, t.Yes = Aborted, 1 })}},
		{"aborted without a reason", yes(1), TransactionOp{Kind: Abort}, nil},
		{"aborted when it was committed", committed, TransactionOp{Kind: Abort, Late: true}, nil},
		{"finished", half, TransactionOp{Kind: Finish, Sites: 2}, []Transaction{finished}},
		{"finished undecided", open(nil), TransactionOp{Kind: Finish, Sites: 2}, nil},
		{"forgotten", finished, TransactionOp{Kind: Forget},
			[]Transaction{open(func(t *Transaction) { t.Phase, t.Yes, t.Done = Forgotten, 3, 3 })}},
		{"forgotten too early", half, TransactionOp{Kind: Forget}, nil},
		{
			"an abort forgotten", in(Aborted), TransactionOp{Kind: Forget},
			[]Transaction{in(Forgotten)},
		},
		{"forgotten undecided", open(nil), TransactionOp{Kind: Forget}, nil},
		{
			"commit is learned", committed, TransactionOp{Kind: LearnCommit},
			[]Transaction{committed},
		},
		{"commit is not learned", in(Aborted), TransactionOp{Kind: LearnCommit}, nil},
		{
			"abort is learned", in(Aborted), TransactionOp{Kind: LearnAbort},
			[]Transaction{in(Aborted)},
		},
		{"abort is not learned", open(nil), TransactionOp{Kind: LearnAbort}, nil},
		{"there is none", in(Forgotten), TransactionOp{Kind: LearnThereIsNone},
			[]Transaction{in(Forgotten)}},
		{"there is one", committed, TransactionOp{Kind: LearnThereIsNone}, nil},
		{"what is that", committed, TransactionOp{Kind: -1}, nil},
	})
}
