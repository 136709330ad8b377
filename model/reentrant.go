package model

// ReentrantLock is the state of a mutual exclusion lock that its holder may acquire again: it is
// free after the same number of releases. The zero value is a free lock that was never granted.
type ReentrantLock struct {
	Holder Owner // zero: free
	Count  int   // acquires without a release
	Token  int64 // the last token granted
}

// Step returns the states the lock may be in after the operation; none means it cannot have
// happened in this state. An Acquire by the holder keeps the token; if it has a token, that must be
// the same.
func (l ReentrantLock) Step(op LockOp) []ReentrantLock {
	switch op.Kind {
	case Acquire:
		return l.acquire(op)
	case Release:
		next := ReentrantLock{Holder: l.Holder, Count: l.Count - 1, Token: l.Token}
		if next.Count == 0 {
			next.Holder = Owner{}
		}
		return after(op.Outcome, l, next, l.Holder == op.By)
	default:
		if l.Holder == op.By {
			return []ReentrantLock{{Token: l.Token}}
		}
		return []ReentrantLock{l}
	}
}

func (l ReentrantLock) acquire(op LockOp) []ReentrantLock {
	next := ReentrantLock{Holder: op.By, Count: l.Count + 1, Token: l.Token}
	can := l.Holder == Owner{} || l.Holder == op.By
	if op.Token != 0 {
		next.Token = op.Token
		if l.Count > 0 {
			can = can && op.Token == l.Token
		} else {
			can = can && op.Token > l.Token
		}
	}
	if op.Outcome == NoEffect {
		return []ReentrantLock{l}
	}
	return after(op.Outcome, l, next, can)
}
