package linearizability

import (
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// lockKind has all differences between kinds of locks that the judge of locks knows. Anything that
// clients hold for a while and lose with their session can be judged as a kind of lock: a lock, a
// lease, a leadership.
type lockKind struct {
	noun   string // of the held thing: "lock"
	object string // of the model: "read-write lock"
	// acquire and release are the kinds of the operations.
	acquire, release string
	// capacity is the number of conflicting holds that are allowed at once.
	capacity int
	// conflict reports whether two holds exclude each other at capacity 1; nil means always.
	conflict func(a, b Op) bool
	// shared reports whether the model gets a shared hold for the operation.
	shared func(op Op) bool
	// named: operations with different inputs are about different holds of their client.
	named bool
	// counted: two holds of one client are two, and not one that was acquired again.
	counted bool
	// handles: the inputs are names of handles, "" for the first.
	handles bool
	// reentrant: a hold that is acquired again has to be released as often.
	reentrant bool
	// betweenCalls: clients compete between calls, too, so a grant may precede its call.
	betweenCalls bool
	model        lockModel
}

// lockModel is a sequential model of a kind of lock.
type lockModel struct {
	judge func(events []event[model.LockOp], object string) Verdict
	order func(events []event[model.LockOp]) func() (Linearization, bool)
}

func newLockModel[S comparable](m sequential[S, model.LockOp]) lockModel {
	return lockModel{
		judge: func(events []event[model.LockOp], noun string) Verdict {
			return judgeLinearizability(m, events, noun)
		},
		order: func(events []event[model.LockOp]) func() (Linearization, bool) {
			return orderer(m, events)
		},
	}
}

var mutex = lockKind{
	noun: "lock", object: "lock", acquire: ops.Lock, release: ops.Unlock, capacity: 1,
	model: newLockModel(lockObject),
}

// mutexOfHandles is a mutex of clients with several handles: a semaphore of one lease.
func mutexOfHandles() lockKind {
	kind := semaphoreKind(1)
	kind.noun, kind.object, kind.acquire, kind.release =
		mutex.noun, mutex.object, mutex.acquire, mutex.release
	kind.handles = true
	return kind
}

// slot tells the holds of one client apart.
func (k lockKind) slot(op Op) string {
	if k.named {
		return op.Input
	}
	return ""
}

// hasModes reports whether a client may hold the lock in two modes at once.
func (k lockKind) hasModes() bool { return k.named && !k.counted }

func (k lockKind) isShared(op Op) bool { return k.shared != nil && k.shared(op) }

func (k lockKind) conflicts(a, b Op) bool { return k.conflict == nil || k.conflict(a, b) }

// isAgain reports whether a client that holds the lock was granted the same hold again.
func (k lockKind) isAgain(held, op Op) bool {
	if op.Token != 0 || held.Token != 0 {
		return op.Token == held.Token
	}
	return (k.reentrant || k.hasModes()) && op.Session == held.Session
}
