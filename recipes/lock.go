package recipes

import ()

// Lock is a fair mutual exclusion lock without herd: the lock recipe of the
// ZooKeeper guide, with the repairs that a decade of bug reports has brought
// (see below). Use one Lock per contender; several on one Conn, for the same
// path too, exclude each other like any others. Methods may be called from
// several goroutines.
//
// What it promises:
//   - Mutual exclusion at the server: the owner is the session with the lowest
//     live node. Lock returns nil only after the own node was read once more
//     and belongs to the session of the Conn at that moment.
//   - Fairness: waiters become owners in the order in which their nodes were
//     created. A waiter that loses its session starts again at the end.
//   - One release wakes one waiter: each watches its predecessor only.
//   - Token grows with every owner.
//   - No orphans: every node made here is removed by Unlock, by a Lock or
//     TryLock that fails, or with the session, even if replies are lost.
//
// On disconnect a waiter goes on waiting, and an owner stays owner, as its
// session may live on: pass SessionTimeout to be told when it may not. On
// expiry a waiter begins again in the new session; an owner's Lost is closed
// as soon as the client learns of it. A done context ends the wait and takes
// the waiter out of the queue; it does not end a hold.
//
// What it cannot promise: that an owner which is paused or cut off past its
// session's end knows about it. Use Token.
//
// Layout: <path>/_c_<guid>-lock-<sequence>, ephemeral, path itself persistent.
// The names are those of Curator's InterProcessMutex and of zk.Lock, which can
// contend for the same path; nodes of kazoo's Lock are respected. Other
// children are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Locks"; Curator's
// LockInternals; ZOOKEEPER-2931 and 4372 (order), CURATOR-45, 79, 190, 498 and
// 604 (creation), CURATOR-678 (release), etcd issue 9921 (confirmation).
type Lock struct {
	*handle
	inLine
}

// NewLock makes a handle for the lock at path, which is created when needed
// and must be used for this lock only. It sends nothing. The options that
// matter are ACL, Data, SessionTimeout, RecheckEvery, Retry and Containers.
func NewLock(conn Conn, path string, opts ...Option) *Lock {
	line := newLockLine(path, opts)
	h := newHandle(conn, path, opts, line)
	return &Lock{h, inLine{h.lifecycle, line}}
}

// newLockLine is the queue of a fair lock.
func newLockLine(path string, opts []Option) *turnstile {
	return &turnstile{dir: path, kind: "lock-", markers: lockMarkers, opts: newOptions(opts), ahead: predecessor}
}
