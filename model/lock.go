package model

// Owner is the holder of a lock: one client in one session. Both matter: a session ends with
// everything it holds, and clients may share a session.
type Owner struct {
	Client  string
	Session int64
}

// Lock is the state of a mutual exclusion lock with fencing tokens. The zero value is a free lock
// that was never granted.
type Lock struct {
	Holder Owner // zero: free
	Token  int64 // the last token granted; a later one must be greater
}

// LockKind is the kind of an operation on a [Lock], [ReentrantLock], [RWLock] or [Semaphore].
type LockKind int

// The operations on a lock. Expire is one of the server: it ends the session, or deletes the
// holder's znode.
const (
	Acquire LockKind = iota
	Release
	Expire
)

// LockOp is one operation on a lock of any kind. Token is the token of an Acquire, or 0 if the lock
// has no tokens. Expire of a [Lock] compares the Session, and the Client only if it is set.
type LockOp struct {
	Kind    LockKind
	By      Owner
	Token   int64
	Shared  bool // of an [RWLock]: as a reader
	Outcome Outcome
}

// Step returns the states the lock may be in after the operation; none means it cannot have
// happened in this state.
func (l Lock) Step(op LockOp) []Lock {
	switch op.Kind {
	case Acquire:
		return l.acquire(op)
	case Release:
		return l.release(op)
	default:
		return l.expire(op)
	}
}

func (l Lock) acquire(op LockOp) []Lock {
	granted := Lock{Holder: op.By, Token: l.Token}
	fits := l.Holder == Owner{}
	if op.Token != 0 {
		granted.Token = op.Token
		fits = fits && op.Token > l.Token
	}
	switch {
	case op.Outcome == Maybe && fits:
		return []Lock{l, granted}
	case op.Outcome != Happened:
		return []Lock{l}
	case fits:
		return []Lock{granted}
	}
	return nil
}

func (l Lock) release(op LockOp) []Lock {
	held := l.Holder == op.By
	free := Lock{Token: l.Token}
	switch {
	case op.Outcome == Maybe && held:
		return []Lock{l, free}
	case op.Outcome == Maybe, op.Outcome == NoEffect && !held:
		return []Lock{l}
	case op.Outcome == Happened && held:
		return []Lock{free}
	}
	return nil
}

// expire is always possible; it frees the lock if the session held it.
func (l Lock) expire(op LockOp) []Lock {
	if l.Holder.Session == op.By.Session &&
		(op.By.Client == "" || op.By.Client == l.Holder.Client) {
		return []Lock{{Token: l.Token}}
	}
	return []Lock{l}
}
