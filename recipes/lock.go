package recipes

import (
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
