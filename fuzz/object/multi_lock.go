package object

import (
	"cmp"
	"slices"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
)

// MultiLock makes a workload of a lock on several paths. Two such locks exclude each other if they
// have a path in common. Each client calls open once, with the same paths in another order, and
// takes the lock round after round. Path of the claims is the parent of the paths; "" means /multilock. Token, if
// the object has it, is the czxid of the client's znode below the greatest of the paths.
func MultiLock(open func(Env) Locker, given ...LockClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/multilock")
	paths := []string{claims.Path + "/a", claims.Path + "/b", claims.Path + "/c"}
	claims.LeavesAtRest = append(slices.Clone(claims.LeavesAtRest), paths...)
	return claims.judged(scenario.Workload{
		Name:  "multi-lock",
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			first := p.Index() % len(paths)
			own := append(append([]string(nil), paths[first:]...), paths[:first]...)
			scenario.Shared(func(p *scenario.Player) Locker {
				env := envOf(p, claims.Path)
				env.Paths = own
				return open(env)
			}, playLock)(p, s)
		},
		Length: claims.length,
	}, ops.Lock, func(l lock.Claims) linearizability.Claims {
		l.Nodes = paths[len(paths)-1]
		return l
	})
}
