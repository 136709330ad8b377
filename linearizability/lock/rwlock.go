package lock

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// ReadWrite claims to be a read-write lock: a [Claims] with the inputs [ops.ReadMode] and
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
type ReadWrite Claims

// Properties implements [lin.Claims].
func (claims ReadWrite) Properties() []string {
	return Claims(claims).with()
}

// Judge implements [lin.Claims].
func (claims ReadWrite) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return judgeNestedLock(newTable(h, readWriteLock, Claims(claims)), left)
}

var readWriteLock = kind{
	noun: "lock", object: "read-write lock", acquire: ops.Lock, release: ops.Unlock, capacity: 1,
	named:    true,
	conflict: func(a, b lin.Op) bool { return a.Input != ops.ReadMode || b.Input != ops.ReadMode },
	shared:   func(op lin.Op) bool { return op.Input == ops.ReadMode },
	model: newKindModel(judging.Model[model.RWLock, model.LockOp]{
		Step: model.RWLock.Step, Show: showRWLock,
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
