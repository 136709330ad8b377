package lock

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// Semaphore claims to be a semaphore. Its calls are [ops.Acquire] and [ops.Release]; each lease is
// judged like a [Claims]. A client that holds several leases at once tells them apart by the input
// of its calls. The token of a lease is the czxid of its znode. Without a token the znode is known
// only if the client has no other lease. Fencing is not judged, as holders do not exclude each
// other.
type Semaphore struct {
	// Leases is the number of leases that may be held at once; below 1 means 1.
	Leases int
	// Fair of Lock claims that a lease is granted to the waiters with the oldest znodes.
	Claims
}

// Properties implements [lin.Claims].
func (claims Semaphore) Properties() []string {
	return claims.with()
}

// Judge implements [lin.Claims].
func (claims Semaphore) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return judge(newTable(h, semaphoreKind(claims.Leases), claims.Claims), left)
}

func semaphoreKind(leases int) kind {
	start := model.Semaphore{Leases: max(1, leases)}
	return kind{
		noun: "semaphore", object: "semaphore", acquire: ops.Acquire, release: ops.Release,
		capacity: start.Leases, named: true, counted: true,
		model: newKindModel(judging.Model[model.Semaphore, model.LockOp]{
			Start: start, Step: model.Semaphore.Step, Show: showSemaphore,
		}),
	}
}

func showSemaphore(s model.Semaphore) string {
	if s.Holders.Len() == 0 {
		return fmt.Sprintf("%d free", s.Leases)
	}
	return fmt.Sprintf("%d of %d held by %s", s.Holders.Len(), s.Leases, s.Holders)
}
