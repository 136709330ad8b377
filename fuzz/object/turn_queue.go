package object

import (
	"cmp"

	"github.com/zksim/zksim/fuzz/scenario"
)

// TurnQueue makes a workload of a line of members, in which each waits for its turn: Lock joins the
// line and waits, Unlock leaves it. The members do the same as the clients of [Lock], and the
// claims are those of a lock; Path "" means /queue, and Fair is the order of the line.
func TurnQueue(open func(Env) Locker, given ...LockClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, queuePath)
	w := Lock(open, claims)
	w.Name = "turn-queue"
	return w
}
