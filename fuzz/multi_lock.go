package fuzz

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// MultiLockWorkload makes a workload of a lock on several paths, which excludes
// everybody who locks one of them, too. Each client calls open once, with the same
// paths in another order, and takes the lock round after round. Of the claims Path
// is the parent of the paths, or "" for /multilock. Token, if there is one, is the
// czxid of the client's znode below the greatest of the paths.
func MultiLockWorkload(impl string, claims LockClaims, open func(c *zk.Conn, paths []string) Locker) Workload {
	if claims.Path == "" {
		claims.Path = multiLockPath
	}
	paths := []string{claims.Path + "/a", claims.Path + "/b", claims.Path + "/c"}
	for _, path := range paths {
		claims.LeavesAtRest = append(claims.LeavesAtRest[:len(claims.LeavesAtRest):len(claims.LeavesAtRest)], path)
	}
	return Workload{
		Name:  "multi-lock",
		Impl:  impl,
		About: claims.About,
		Play: func(p *Player, s Script) {
			first := p.Index() % len(paths)
			own := append(append([]string(nil), paths[first:]...), paths[:first]...)
			shared(func(c *zk.Conn) Locker { return open(c, own) }, playLock)(p, s)
		},
		Length: holdingTime,
		Judge: func(e Evidence) (linearizability.Report, error) {
			opts := claims.options(e)
			opts.Nodes = paths[len(paths)-1]
			return claims.fitting(e, linearizability.Judge(e.History, e.Rest, opts))
		},
	}
}

// TestMultiLock is TestLock for a lock on several paths, all under /multilock.
func TestMultiLock(t TB, open func(c *zk.Conn, paths []string) Locker, claims ...LockClaims) {
	t.Helper()
	Run(t, MultiLockWorkload(t.Name(), only(t, claims), open))
}

// orderedMultiLock is the lock on several paths to use.
func orderedMultiLock() Workload {
	return MultiLockWorkload("recipes.MultiLock", LockClaims{
		About: "several locks at once, of package recipes", MaxHerd: 1,
	}, func(c *zk.Conn, paths []string) Locker {
		return multiLock{recipes.NewMultiLock(c, paths, recipes.SessionTimeout(sessionTimeout))}
	})
}

// multiLock has the token of the path that is locked last.
type multiLock struct{ *recipes.MultiLock }

func (l multiLock) Token() int64 { return l.MultiLock.Token(multiLockPath + "/c") }

// multiLockPath is the parent of the paths of the workloads of such locks.
const multiLockPath = "/multilock"
