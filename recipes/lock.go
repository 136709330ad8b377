package recipes

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
)

// Lock is a lock with one holder at a time. It follows the lock recipe of the ZooKeeper guide, with
// repairs from a decade of bug reports. Waiters get it in the order of their arrival. Use one Lock
// for each contender; several Locks for one path exclude each other even on one Conn. Methods may
// be called from several goroutines.
//
// It guarantees:
//
//   - Mutual exclusion at the server: the holder is the contender with the oldest live node. Lock
//     returns nil only after it has read its own node once more and found it to belong to the
//     present session of the Conn.
//   - Fairness: waiters become holders in the order in which their nodes were created. A waiter
//     that loses its session starts again at the end.
//   - One release wakes one waiter: each watches only the node before its own.
//   - Token grows with every holder.
//   - Nothing is left behind: every node is removed by Unlock, by a Lock or TryLock that fails, or
//     with the session, even if replies are lost.
//
// When the connection is lost, a waiter goes on waiting and a holder keeps the lock, as its session
// may live on; Lost is closed before the session can be over, as SessionTimeout says. When the
// session ends, a waiter begins again in the new one, and the holder's Lost is closed as soon as
// the client learns of the end. A done context ends the wait and takes the waiter out of the queue;
// it does not end a hold.
//
// A holder that is paused beyond the end of its session does not notice the end. Use Token.
//
// Layout: <path>/_c_<guid>-lock-<sequence>, ephemeral; path itself is persistent. Curator's
// InterProcessMutex and zk.Lock use the same names and can contend for the same path. A Lock also
// waits for nodes of kazoo's Lock. Other children are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Locks"; Curator's LockInternals; ZOOKEEPER-2931
// and 4372 (order), CURATOR-45, 79, 190, 498 and 604 (creation), CURATOR-678 (release), etcd issue
// 9921 (confirmation).
type Lock struct {
	handle
	inLine
}

// NewLock makes a handle for the lock at path, which is created when needed and must be used for
// this lock only. It sends nothing. The options that matter are ACL, Data, SessionTimeout,
// RecheckEvery, Retry and Containers.
func NewLock(conn Conn, path string, opts ...Option) *Lock {
	line := newLockLine(path, request.NewOptions(opts))
	h := hold.NewHandle(conn, path, line.Opts, line)
	return &Lock{handle{h}, inLine{h.Tasks, line}}
}

// newLockLine returns the queue of a fair lock.
func newLockLine(path string, opts request.Options) *hold.Turnstile {
	return &hold.Turnstile{
		Dir: path, Kind: "lock-", Markers: lockMarkers, Opts: opts, Ahead: hold.Predecessor,
	}
}

// lockMarkers stand before the sequence number in the lock nodes of this package, Curator and
// zk.Lock ("_c_<guid>-lock-0000000001"), and of kazoo ("<guid>__lock__0000000001").
var lockMarkers = []string{"lock-", "__lock__"}

// handle is embedded by the locks with one hold for each handle.
type handle struct{ core *hold.Handle }

// Lock waits until this handle owns the lock, ctx is done, or the server refuses a request. It
// outlives a lost connection. After the end of a session it queues again in the new one.
//
// When ctx is done Lock returns the cause, and its node is removed in the background; see the
// package comment. ErrHeld means that this handle owns the lock already or is acquiring it. A lost
// hold is no obstacle: Lock first removes its node, if that still exists.
func (h *handle) Lock(ctx context.Context) error { return h.core.Lock(ctx) }

// TryLock is Lock without the wait for other contenders: it returns false if one is ahead. It does
// wait for the connection.
func (h *handle) TryLock(ctx context.Context) (bool, error) { return h.core.TryLock(ctx) }

// Unlock gives the lock back. The handle ends its hold and closes Lost before the first request.
// The deletion of the node is repeated until the server has confirmed it.
//
// Unlock returns nil after the confirmation. If ctx is done first, or from the start, Unlock
// returns an error after a moment. The deletion then goes on in the background until the server
// confirms or refuses it, or the Conn is closed. If Unlock learns that the Conn is closed, its
// error wraps ErrConnClosed; the node goes with the session. In every case the handle can be used
// again.
//
// Without a hold Unlock returns ErrNotHeld and changes nothing. After an Unlock that has returned
// an error, the next Unlock waits for the clean-up and returns the error that Close would return.
func (h *handle) Unlock(ctx context.Context) error { return h.core.Unlock(ctx) }

// Do waits for the lock as Lock does, calls work with the fencing token, and gives the lock back as
// Unlock does, even if work panics. The context of work ends with ctx or with the hold. If the hold
// ends first, the cause is ErrLost, or ErrClosed after Close. Do waits for the return of work, so
// work should return soon after its context is done.
//
// If Lock fails, Do returns that error and does not call work. Otherwise the error of Do wraps
//
//   - ErrLost or ErrClosed, if the hold has ended before work returned, even if work returned nil:
//     another client may have owned the lock meanwhile;
//   - the error of work;
//   - the error of Unlock, such as ErrAmbiguous if ctx is done before the server has confirmed the
//     release, which goes on in the background.
//
// It is nil if none of these has happened. A panic of work continues at most a moment after the
// release has begun.
func (h *handle) Do(ctx context.Context, work func(ctx context.Context, token int64) error) error {
	return h.core.Do(ctx, work)
}

// Lost returns a channel that is closed when the current hold has ended. The causes are Unlock,
// Close, a node that another client has deleted or changed, a session that has expired or was
// replaced, a closed Conn, and a connection that was down for too long. Each hold has its own
// channel. Without a hold the channel is closed already.
//
// It is a hint, and can come late: see the limits in the package comment.
func (h *handle) Lost() <-chan struct{} { return h.core.Lost() }

// Token returns the fencing token of the current hold, or 0 without a hold. The token is the czxid
// of the holder's node. Every later holder of the same lock has a greater token, even after the
// parents were deleted and created again.
func (h *handle) Token() int64 { return h.core.Token() }

// Path returns the path of the own node, or "" without a hold.
func (h *handle) Path() string { return h.core.Path() }

// String returns the path and whether the lock is held, for logs: "lock /l, held with token 7".
func (h *handle) String() string { return h.core.String() }

// Close ends an acquisition under way, gives the lock back, and waits until nothing is left to
// clean up or ctx is done; in the latter case the clean-up goes on. Afterwards Lock and TryLock
// return ErrClosed. It leaves the Conn open. It returns the first refusal of the server to remove a
// node of this handle. That node stays until the session ends.
func (h *handle) Close(ctx context.Context) error { return h.core.Close(ctx) }

// ErrLost is returned by Lock of a re-entrant lock if the present hold was lost, with its session
// for instance. The outer levels protect nothing any more, so the caller has to unlock each of
// them. Then the lock can be locked anew.
var ErrLost = hold.ErrLost

// ReentrantLock is a Lock that its owner may lock several times. The lock is given back by the last
// of as many unlocks. One ReentrantLock is one owner for all goroutines, as goroutines have no
// identity. Goroutines that exclude each other need one ReentrantLock each.
//
// It guarantees all that Lock does. Further levels cost no request. All levels belong to one hold:
// after its loss Lock returns ErrLost until each level is unlocked. Then Lock acquires the lock
// anew, under a greater token.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock. An inner
// Lock does not notice an expiry before the client does. Use Token.
//
// Layout: that of Lock. A Lock and a ReentrantLock can share a path.
//
// Sources: those of Lock; Curator's InterProcessMutex, which grants a lock again from its map of
// threads after the session has ended.
type ReentrantLock struct {
	handle
	inLine
	nested *hold.Nested
}

// NewReentrantLock makes a handle for the lock at path, which is created when needed and must be
// used for this lock only. It sends nothing. The options that matter are the same as for NewLock.
func NewReentrantLock(conn Conn, path string, opts ...Option) *ReentrantLock {
	lock := NewLock(conn, path, opts...)
	return &ReentrantLock{lock.handle, lock.inLine, hold.NewNested(lock.core)}
}

// Lock goes one level deeper at once if this handle owns the lock. Otherwise it waits for the lock
// as Lock of the type Lock does. It returns ErrLost if the hold was lost, and ErrHeld if another
// goroutine is acquiring the lock through this handle.
func (l *ReentrantLock) Lock(ctx context.Context) error {
	return l.nested.Lock(ctx)
}

// TryLock is Lock without the wait for another owner: it returns false if there is another owner.
// It does wait for the connection.
func (l *ReentrantLock) TryLock(ctx context.Context) (bool, error) {
	return l.nested.TryLock(ctx)
}

// Unlock leaves the innermost level. Leaving the last level gives the lock back, as Unlock of the
// type Lock does.
func (l *ReentrantLock) Unlock(ctx context.Context) error { return l.nested.Unlock(ctx) }

// Do is Do of the type Lock for one more level.
func (l *ReentrantLock) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.nested.Do(ctx, work)
}
