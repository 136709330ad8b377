package linearizability

import (
	"fmt"

	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// RWLock claims to be a read-write lock: a [Lock] with the inputs [ops.ReadMode] and
// [ops.WriteMode]. An unlock ends its client's hold of the same mode. Many clients may read at once
// while none writes. The writer itself may read, too, and may keep the read lock after it has
// unlocked the write lock. A reader cannot become the writer.
//
// Fencing: the token of a writer is greater than all earlier tokens, the token of a reader greater
// than the earlier tokens of writers. Fair claims that no client is granted the lock before a
// conflicting client with an older znode: no reader overtakes a waiting writer. A writer that also
// reads keeps the token of its write lock if it goes on reading before the clients that waited
// behind its write lock. Its second znode is then the last one that it created during the call.
//
// A writer or reader may lock its mode again, and holds it until the same number of unlocks of that
// mode. Safety is violated if an earlier unlock releases it.
//
// Herd: readers that go on together when a writer leaves are woken together, and count as one.
//
// Without tokens the znode of a second mode is known only if the client created it during the call.
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
