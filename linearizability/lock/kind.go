package lock

import (
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// kind has all differences between kinds of locks that the judge of locks knows. Anything that
// clients hold for a while and lose with their session can be judged as a kind of lock: a lock, a
// lease, a leadership.
type kind struct {
	noun   string // of the held thing: "lock"
	object string // of the model: "read-write lock"
	// acquire and release are the kinds of the operations.
	acquire, release string
	// capacity is the number of conflicting holds that are allowed at once.
	capacity int
	// conflict reports whether two holds exclude each other at capacity 1; nil means always.
	conflict func(a, b lin.Op) bool
	// shared reports whether the model gets a shared hold for the operation.
	shared func(op lin.Op) bool
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
	model        kindModel
}

// kindModel is a sequential model of a kind of lock.
type kindModel struct {
	judge func(events []judging.Event[model.LockOp], object string) lin.Verdict
	order func(events []judging.Event[model.LockOp]) func() (lin.Linearization, bool)
}

func newKindModel[S comparable](m judging.Model[S, model.LockOp]) kindModel {
	return kindModel{
		judge: func(events []judging.Event[model.LockOp], noun string) lin.Verdict {
			return judging.Linearizability(m, events, noun)
		},
		order: func(events []judging.Event[model.LockOp]) func() (lin.Linearization, bool) {
			return judging.Linearizer(m, events)
		},
	}
}

var mutex = kind{
	noun: "lock", object: "lock", acquire: ops.Lock, release: ops.Unlock, capacity: 1,
	model: newKindModel(mutexModel),
}

// mutexOfHandles is a mutex of clients with several handles: a semaphore of one lease.
func mutexOfHandles() kind {
	kind := semaphoreKind(1)
	kind.noun, kind.object, kind.acquire, kind.release =
		mutex.noun, mutex.object, mutex.acquire, mutex.release
	kind.handles = true
	return kind
}

// slot tells the holds of one client apart.
func (k kind) slot(op lin.Op) string {
	if k.named {
		return op.Input
	}
	return ""
}

// hasModes reports whether a client may hold the lock in two modes at once.
func (k kind) hasModes() bool { return k.named && !k.counted }

func (k kind) isShared(op lin.Op) bool { return k.shared != nil && k.shared(op) }

func (k kind) conflicts(a, b lin.Op) bool { return k.conflict == nil || k.conflict(a, b) }

// isAgain reports whether a client that holds the lock was granted the same hold again.
func (k kind) isAgain(held, op lin.Op) bool {
	if op.Token != 0 || held.Token != 0 {
		return op.Token == held.Token
	}
	return (k.reentrant || k.hasModes()) && op.Session == held.Session
}
