package linearizability

import (
	"fmt"

	"github.com/zksim/zksim/model"
)

// The inputs of [KindLock] and [KindUnlock] of a read-write lock.
const (
	ModeRead  = "read"
	ModeWrite = "write"
)

var readWriteLock = lockKind{
	noun: "lock", object: "read-write lock", acquire: KindLock, release: KindUnlock, capacity: 1, named: true,
	conflict: func(a, b Op) bool { return a.Input != ModeRead || b.Input != ModeRead },
	shared:   func(op Op) bool { return op.Input == ModeRead },
	model:    newLockModel(object[model.RWLock, model.LockOp]{step: model.RWLock.Step, show: showRWLock}),
}

func showRWLock(l model.RWLock) string {
	switch {
	case l.Writer != (model.Owner{}) && l.Readers.Len() > 0:
		return fmt.Sprintf("written by %s, read by %s", l.Writer.Client, l.Readers)
	case l.Writer != (model.Owner{}):
		return "written by " + l.Writer.Client
	case l.Readers.Len() > 0:
		return "read by " + l.Readers.String()
	}
	return "free"
}

// JudgeRWLock judges a read-write lock as [Lock] judges a lock: operations of
// the kinds [KindLock] and [KindUnlock] with the input [ModeRead] or [ModeWrite];
// an unlock ends its client's hold of the same mode. Many may read at once, if
// nobody writes. The writer itself may read, too, and go on reading after it has
// unlocked the write lock; a reader may not become the writer.
//
// Fencing: the token of a writer must be greater than all before it, that of a
// reader greater than those of the writers before it. [Lock.Fair] claims
// that nobody is granted the lock before somebody with an older znode with whom
// it cannot share it: so no reader overtakes a waiting writer. The writer who reads,
// too, does so under the token of its write lock, if it goes on reading before
// those who waited behind that; then its second znode is the last one that it made
// during the call.
//
// The writer and each reader may lock again what they hold, and hold it until as
// many unlocks of that mode; it is a violation of safety if an earlier one gives
// it up.
//
// Herd: readers who go on together when a writer leaves are woken together, and
// count as one.
//
// Without tokens a client must not hold both modes at once, as it is not known
// then which znode is for which.
type RWLock Lock

func (opts RWLock) judge(h History, rest *Leftovers) Report {
	return newLockCase(h, readWriteLock, Lock(opts)).judgeNested(rest)
}
