package linearizability

import (
	"fmt"

	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// RWLock claims to be a read-write lock: a [Lock] whose calls have the input [ops.ReadMode] or
// [ops.WriteMode]. An unlock ends its client's hold of the same mode. Many may read at once, if
// nobody writes. The writer itself may read, too, and go on reading after it has unlocked the write
// lock; a reader may not become the writer.
//
// Fencing: the token of a writer must be greater than all before it, that of a reader greater than
// those of the writers before it. Fair claims that no client is granted the lock before a client
// with an older znode with which it cannot share it: so no reader overtakes a waiting writer. A
// writer that reads, too, does so under the token of its write lock if it goes on reading before
// the clients that waited behind that. Then its second znode is the last one that it made during
// the call.
//
// The writer and each reader may lock again what they hold, and hold it until as many unlocks of
// that mode. Safety is violated if an earlier unlock gives it up.
//
// Herd: readers that go on together when a writer leaves are woken together, and count as one.
//
// Without tokens a client must not hold both modes at once, as it is not known then which znode is
// for which.
type RWLock Lock

func (claims RWLock) judge(h History, left *Leftovers) Report {
	return judgeNestedLock(newLockTable(h, readWriteLock, Lock(claims)), left)
}

var readWriteLock = lockKind{
	noun: "lock", object: "read-write lock", acquire: ops.Lock, release: ops.Unlock, capacity: 1,
	named:    true,
	conflict: func(a, b Op) bool { return a.Input != ops.ReadMode || b.Input != ops.ReadMode },
	shared:   func(op Op) bool { return op.Input == ops.ReadMode },
	model: newLockModel(sequential[model.RWLock, model.LockOp]{
		step: model.RWLock.Step, show: showRWLock,
	}),
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
