package model

// Transaction is the state of a two-phase commit. The zero value is one that was not
// begun yet.
type Transaction struct {
	Phase TransactionPhase
	Sites Sites // who has to vote
	Yes   Sites // who has voted yes
	No    Sites // who has voted no
	Gone  Sites // who has gone before it voted
	Done  Sites // who has finished
}

// TransactionPhase is how far a [Transaction] has come.
type TransactionPhase int

// The phases of a transaction. Nothing leads out of the last one.
const (
	NotBegun TransactionPhase = iota
	Undecided
	Committed
	Aborted
	Forgotten
)

// Sites is a set of up to 64 sites, one bit for each.
type Sites uint64

// TransactionKind is what happens to a [Transaction].
type TransactionKind int

// What can happen to a transaction.
const (
	BeginTransaction TransactionKind = iota // with its Sites
	VoteYes                                 // by the one of Sites
	VoteNo                                  // likewise
	GoAway                                  // likewise: others may count on its vote no longer, if it has not voted
	Commit                                  // once all have voted yes
	Abort                                   // for a reason: a no, one who has gone, or that it is Late
	Finish                                  // by the one of Sites, once it is decided
	Forget                                  // once all have finished what was committed; others once they are aborted
	LearnCommit                             // that it is committed
	LearnAbort                              // that it is aborted
	LearnThereIsNone                        // that there is no such transaction
)

// TransactionOp is one operation on a [Transaction].
type TransactionOp struct {
	Kind    TransactionKind
	Sites   Sites
	Late    bool // the deadline has passed; a vote that was missing then may have come since
	Outcome Outcome
}

// Step returns the states the transaction may be in after the operation; none means
// that it cannot have happened in this state.
func (t Transaction) Step(op TransactionOp) []Transaction {
	if op.Outcome == NoEffect {
		return []Transaction{t}
	}
	next, can := t.after(op)
	return after(op.Outcome, t, next, can)
}

// after is the state that an operation leads to, if it can happen.
func (t Transaction) after(op TransactionOp) (next Transaction, can bool) {
	next = t
	there := t.Phase != NotBegun && t.Phase != Forgotten
	mayVote := there && op.Sites&t.Sites == op.Sites && op.Sites&(t.Yes|t.No) == 0
	switch op.Kind {
	case BeginTransaction:
		return Transaction{Phase: Undecided, Sites: op.Sites}, t.Phase == NotBegun
	case VoteYes:
		next.Yes |= op.Sites
		return next, mayVote
	case VoteNo:
		next.No |= op.Sites
		return next, mayVote
	case GoAway:
		next.Gone |= op.Sites &^ (t.Yes | t.No)
		return next, there
	case Commit:
		next.Phase = Committed
		return next, t.Phase == Undecided && t.Yes == t.Sites
	case Abort:
		next.Phase = Aborted
		return next, t.Phase == Undecided && (t.No|t.Gone != 0 || op.Late)
	case Finish:
		next.Done |= op.Sites
		return next, t.decided()
	case Forget:
		next.Phase = Forgotten
		return next, t.Phase == Aborted || t.Phase == Committed && t.Done == t.Sites
	case LearnCommit:
		return t, t.Phase == Committed
	case LearnAbort:
		return t, t.Phase == Aborted
	case LearnThereIsNone:
		return t, !there
	}
	return t, false
}

func (t Transaction) decided() bool { return t.Phase == Committed || t.Phase == Aborted }
