package model

// Transaction is the state of a two-phase commit. The zero value was not begun yet.
type Transaction struct {
	Phase TransactionPhase
	Sites Sites // that have to vote
	Yes   Sites // that have voted yes
	No    Sites // that have voted no
	Gone  Sites // that have gone before they voted
	Done  Sites // that have finished
}

// TransactionPhase is the phase of a [Transaction].
type TransactionPhase int

// The phases of a transaction. The last one is the end.
const (
	NotBegun TransactionPhase = iota
	Undecided
	Committed
	Aborted
	Forgotten
)

// Sites is a set of up to 64 sites, one bit for each.
type Sites uint64

// TransactionKind is the kind of an operation on a [Transaction].
type TransactionKind int

// The operations on a transaction. A vote, GoAway and Finish are by the one site in Sites.
const (
	BeginTransaction TransactionKind = iota // with its Sites
	VoteYes
	VoteNo
	GoAway           // if the site has not voted, the others need not wait for its vote
	Commit           // once all have voted yes
	Abort            // for a reason: a no, a site that has gone, or that it is Late
	Finish           // once it is decided
	Forget           // once it is aborted, or all have finished a commit
	LearnCommit      // that it is committed
	LearnAbort       // that it is aborted
	LearnThereIsNone // that there is no such transaction
)

// TransactionOp is one operation on a [Transaction].
type TransactionOp struct {
	Kind    TransactionKind
	Sites   Sites
	Late    bool // the deadline has passed; a vote that was missing then may have come since
	Outcome Outcome
}

// Step returns the states the transaction may be in after the operation; none means that it cannot
// have happened in this state.
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
