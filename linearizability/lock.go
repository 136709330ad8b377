package linearizability

import "time"

// Lock say what the lock claims to be. The zero value judges a lock
// without a claim to fairness, made of whatever znodes the log holds.
type Lock struct {
	// Path is the directory of the lock's znodes; other znodes are not looked at.
	// Empty means every znode.
	Path string
	// Nodes is the directory of the znodes through which it is held, if there are
	// others under Path: a semaphore's leases beside the lock that guards them.
	// Empty means Path.
	Nodes string
	// Fair: the lock claims to be granted in the order in which the znodes of
	// those waiting were created.
	Fair bool
	// MaxHerd is the greatest number of watch notifications one release may fire;
	// 0 measures them only.
	MaxHerd int
	// Signals: the lock has a signal of loss, recorded as [LockLost]. A signal
	// while the holder's znode and session are alive is a violation of belief,
	// unless the client was told of a disconnect or an expiry ([Disconnected],
	// [SessionExpired]) since it called lock, so record the disconnects too. It is
	// judged only where the holder's znode is known.
	Signals bool
	// SignalWithin is how long the signal may take from the moment the holder's
	// client was told that its session has expired. A holder that has not called
	// unlock in that time, and got no signal in it, is a violation of belief. 0
	// means that this is not judged; without Signals it never is.
	SignalWithin time.Duration
	// DisconnectEndsBelief: a client that is told of a disconnect stops believing
	// that it holds the lock, as the guide advises. By default it goes on: the
	// session outlives most disconnects. With Signals this has no effect, since
	// then the signal is what ends the belief.
	DisconnectEndsBelief bool
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
}

// JudgeLock judges the history of one mutual exclusion lock: operations of the
// kinds [KindLock] and [KindUnlock]; others are ignored. Rest may be nil.
//
// A client owns the lock at the server from the return of its lock operation
// until its znode is deleted or its session ends; if its znode is not known,
// until its call of unlock or the end of its session. It believes so until it
// calls unlock or is told of a loss. Its znode is the one whose czxid is the
// token; without a token it is the oldest live ephemeral under Path that the
// client or its session made. If no token of the history is the czxid of a znode
// of its client, tokens are something else, and serve only to judge fencing.
//
// Only the server may take a lock away, when the session ends: a znode deleted by
// anybody's request before its holder called unlock or was told of a loss is a
// violation of safety, and opens no zombie window.
//
// Linearizability is that of [github.com/zksim/zksim/model.Lock], in which the
// end of a session is an operation of the server. Unknown locks that nobody
// believes in are left out of it: what they leave behind is found under
// liveness and orphans.
func (opts Lock) judge(h History, rest *Leftovers) Report {
	return newLockCase(h, mutex, opts).judgeHolds(rest)
}

func (c *lockCase) waits() Waits {
	var w Waits
	for _, h := range c.holds {
		w.Granted++
		if d := h.lock.ReturnTime - h.lock.CallTime; d > w.Longest || w.Granted == 1 {
			w.Longest, w.Client, w.CallStep = d, h.lock.Client, h.lock.Call
		}
	}
	return w
}

func (c *lockCase) hasTokens() bool {
	for _, h := range c.holds {
		if h.lock.Token != 0 {
			return true
		}
	}
	return false
}
