package linearizability

import (
	"fmt"

	"github.com/zksim/zksim/model"
)

// Semaphore say what a semaphore claims to be.
type Semaphore struct {
	// Leases is how many may be held at once; below 1 means 1.
	Leases int
	// Lock are those of a lock; Fair claims that a lease is granted to those
	// with the oldest znodes.
	Lock
}

func semaphoreKind(leases int) lockKind {
	start := model.Semaphore{Leases: max(1, leases)}
	return lockKind{
		noun: "semaphore", object: "semaphore", acquire: KindAcquire, release: KindRelease,
		capacity: start.Leases, named: true, counted: true,
		model: newLockModel(object[model.Semaphore, model.LockOp]{start: start, step: model.Semaphore.Step, show: showSemaphore}),
	}
}

func showSemaphore(s model.Semaphore) string {
	if s.Holders.Len() == 0 {
		return fmt.Sprintf("%d free", s.Leases)
	}
	return fmt.Sprintf("%d of %d held by %s", s.Holders.Len(), s.Leases, s.Holders)
}

// JudgeSemaphore judges a semaphore as [Lock] judges a lock: operations of the
// kinds [KindAcquire] and [KindRelease]. A client that holds several leases at once
// tells them apart by the input of these, and each needs a token: the czxid of its
// znode. Fencing is not judged, as holders do not exclude each other.
func (opts Semaphore) judge(h History, rest *Leftovers) Report {
	return newLockCase(h, semaphoreKind(opts.Leases), opts.Lock).judgeHolds(rest)
}
