package lock

import (
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// Claims claims to be a mutual exclusion lock. Its calls are [ops.Lock] and [ops.Unlock]. The zero
// value makes no claim to fairness, and takes every ephemeral znode as part of the lock.
//
// A client owns the lock at the server from the return of its call of lock until its znode is
// deleted or its session ends; if its znode is not known, until its call of unlock or the end of
// its session. It believes in its ownership until it calls unlock or learns of a loss. Its znode is
// the one with the token as its czxid. Without a token it is the oldest live ephemeral within Path
// that the client or its session made. If no token of the history is the czxid of a znode of its
// client, tokens need not be czxids, and only serve to judge fencing.
//
// Fencing: the token of a grant is greater than those before it, and the czxid of the znode. If one
// grant has a token, every grant must have one.
//
// Only the server may revoke a lock, at the end of the session. If a request of any client deletes
// the holder's znode before the holder has called unlock or learned of a loss, or if the server
// deletes it as a TTL node or a container, safety is violated, and no zombie window opens.
//
// A signal of loss ends a hold. The same znode may be granted to its client again.
//
// Linearizability is judged by [github.com/zksim/zksim/model.Lock], in which the end of a session
// is an operation of the server. With the server's log, a call of lock with an unknown outcome is
// left out: liveness and orphans judge its znode. Without the log, such a call may have been
// granted.
type Claims struct {
	// Path is the directory of the lock's znodes, or the ephemeral that is the lock; other znodes
	// are ignored. Empty means every znode.
	Path string
	// Nodes is the directory of the holders' znodes, if there are others under Path. A semaphore
	// has leases beside the lock that guards them. Empty means Path.
	Nodes string
	// Handles: a client may have several handles, which exclude each other like handles of
	// different clients. The inputs of the calls tell the handles apart. Missing tokens are not
	// judged, nor is the order between handles of one client.
	Handles bool
	// Fair: the lock is granted in the order in which the znodes of the waiters were created.
	Fair bool
	// MaxHerd is the greatest number of watch notifications that one release may fire; 0 only
	// measures them.
	MaxHerd int
	// Signals: the lock has a signal of loss, recorded as [lin.LockLost]. A signal while the
	// holder's znode and session are alive violates belief, unless the client learned of a
	// disconnect or an expiry ([lin.Disconnected], [lin.SessionExpired]) since it called lock, so
	// record the disconnects too. Neither does it if a request of the client had no answer
	// ([lin.Unanswered]), or if one of its calls was paused: a lease gives up then. It is judged
	// only if the holder's znode is known.
	Signals bool
	// SignalWithin limits the time from the client's notice of the expiry to the signal. If a
	// holder neither calls unlock nor gets a signal in that time, belief is violated. 0 means that
	// this is not judged; without Signals it never is.
	SignalWithin time.Duration
	// DisconnectEndsBelief: a client that learns of a disconnect stops believing that it holds the
	// lock, as the ZooKeeper guide advises. Otherwise it goes on believing: the session outlives
	// most disconnects. With Signals this has no effect, since then the signal ends the belief.
	DisconnectEndsBelief bool
	// Lease: the signal of loss comes before the session can end for lack of answers, so that no
	// zombie window opens: one that does violates belief. Leave it out if a session was ended
	// before its time, as by an administrator.
	Lease bool
	// TTL: a holder keeps the lock by writes to a znode that it has made with a TTL, whatever
	// becomes of its session. If the server deletes that znode because no write came in time, the
	// hold ends, and a zombie window may follow, as at the end of a session. If the holder was
	// connected all the time, had an answer to each request and was not paused, it could have
	// written, and safety is violated. TTL nodes may stay at rest.
	TTL bool
	// ClosesSession: an unlock closes the session of its hold, and the znode goes with the session:
	// at the end of its timeout, if the request to close it is lost.
	ClosesSession bool
	// StaleReads: an answer about the leader of an election may be that of a server that lags
	// behind: it was right at some moment since the client's own last lead or resign before it.
	StaleReads bool
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
}

// Properties implements [lin.Claims].
func (claims Claims) Properties() []string {
	return claims.with()
}

// Judge implements [lin.Claims].
func (claims Claims) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	kind := mutex
	if claims.Handles {
		kind = mutexOfHandles()
	}
	return judge(newTable(h, kind, claims), left)
}

// with lists the properties of a lock, and more properties of its kind.
func (claims Claims) with(more ...string) []string {
	list := append(more, lin.Safety, lin.Belief, lin.Fencing, lin.Linearizability, lin.Liveness,
		lin.Orphans)
	if claims.Fair {
		list = append(list, lin.Order)
	}
	if claims.MaxHerd > 0 {
		list = append(list, lin.Herd)
	}
	return judging.Properties(list...)
}

// judge judges a lock of any kind.
func judge(t table, left *lin.Leftovers) lin.Report {
	if t.claims.TTL {
		left = withoutLives(left, t.claims.Path)
	}
	events := eventsOf(t)
	r := lin.Report{
		ZombieWindows: zombieWindows(t),
		Granted:       len(t.holds),
		LongestWait:   longestWait(t.holds),
		Holds:         t.reported(),
		Linearize:     t.kind.model.order(events),
	}
	r.MaxHerd, r.MaxHerdStep = greatestHerd(t)
	r.Add(judgeSafety(t), judgeBelief(t))
	if v, bad := changedToken(t); bad {
		r.Add(v)
	} else if t.kind.capacity == 1 && hasTokens(t.holds) {
		r.Add(judgeFencing(t))
	}
	r.Add(t.kind.model.judge(events, t.kind.object))
	if t.claims.Fair {
		r.Add(judgeFairness(t))
	}
	r.Add(judgeLiveness(t, left)...)
	if left != nil {
		mayWatch := func(client string) bool {
			// a holder may watch its own znode
			return judging.Waits(t.history)(client) || t.holdsAtEnd(client)
		}
		r.Add(judging.Orphans(left, t.claims.AllowedAtRest, orphansOf(t, left), mayWatch))
	}
	if t.claims.MaxHerd > 0 {
		r.Add(judgeHerd(r, t.claims.MaxHerd))
	}
	return r
}

// longestWait is the longest time that a granted lock took.
func longestWait(holds []*hold) (longest time.Duration) {
	for _, h := range holds {
		longest = max(longest, h.lock.ReturnTime-h.lock.CallTime)
	}
	return longest
}

func hasTokens(holds []*hold) bool {
	for _, h := range holds {
		if h.lock.Token != 0 {
			return true
		}
	}
	return false
}
