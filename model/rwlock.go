package model

// RWLock is the state of a read-write lock: many readers, or one writer. The zero value is a free
// lock that was never granted.
//
// The writer may acquire the read lock, too, and keep it after it has released the write lock; a
// reader may not become the writer.
type RWLock struct {
	Writer  Owner // zero: none
	Readers Owners
	// Token is the last token granted to a writer, Latest the greatest of all.
	Token, Latest int64
}

// Step returns the states the lock may be in after the operation; none means it cannot have
// happened in this state. The token of a writer must be greater than all before it. The token of a
// reader must be greater than those of the writers before it, unless the reader is the writer
// itself. Expire takes away the read lock if Shared, else the write lock.
func (l RWLock) Step(op LockOp) []RWLock {
	switch op.Kind {
	case Acquire:
		return l.acquire(op)
	case Release:
		next, held := l.without(op)
		return after(op.Outcome, l, next, held)
	default:
		next, _ := l.without(op)
		return []RWLock{next}
	}
}

func (l RWLock) acquire(op LockOp) []RWLock {
	next, can := l, l.Writer == Owner{} || op.Shared && l.Writer == op.By
	if op.Shared {
		next.Readers = l.Readers.with(op.By)
		can = can && (op.Token == 0 || op.Token > l.Token || l.Writer == op.By)
	} else {
		next.Writer = op.By
		next.Token = max(l.Token, op.Token)
		can = can && l.Readers.Len() == 0 && (op.Token == 0 || op.Token > l.Latest)
	}
	next.Latest = max(l.Latest, op.Token)
	if op.Outcome == NoEffect {
		return []RWLock{l}
	}
	return after(op.Outcome, l, next, can)
}

// without is the lock without one hold, and whether there was such a hold.
func (l RWLock) without(op LockOp) (RWLock, bool) {
	next := l
	if op.Shared {
		next.Readers = l.Readers.without(op.By)
		return next, l.Readers.has(op.By)
	}
	if l.Writer != op.By {
		return l, false
	}
	next.Writer = Owner{}
	return next, true
}
