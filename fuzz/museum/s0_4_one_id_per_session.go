package museum

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func oneIDPerSession() Exhibit {
	return Exhibit{
		ID: "S0-4", Title: "two locks of one session share a node",
		Report: writeLockSource, See: []string{"S2-3"},
		Bug: "WriteLock names its node after the session, and looks for such a node before it makes one. Two of them on one " +
			"connection find the same, so both own the lock, and the first to unlock takes it from the other.",
		Property: linearizability.Safety,
		Wrong: twoLocks(func(l *naked) {
			l.naming = l.session
			l.join = func() error {
				l.prefix = l.naming()
				if found, err := l.find(); found || err != nil { // wrong: it may be another lock's
					return err
				}
				return l.joinOnce()
			}
		}),
		Right:  twoLocks(func(*naked) {}),
		Script: scenario.Script{Clients: 2, Rounds: 1},
	}
}

// writeLockSource is the lock of ZooKeeper's own recipes.
const writeLockSource = "https://github.com/apache/zookeeper/blob/master/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java"

// twoLocks is a workload of clients that want the lock twice, by two handles: as one
// place of a semaphore, so that a client excludes itself. Each waits a moment for the
// second.
func twoLocks(replace func(*naked)) scenario.Workload {
	handle := func(c *zk.Conn) *naked { return remade(c, lockDir, replace) }
	claims := object.SemaphoreClaims{LockClaims: claims, Leases: 1}
	w := beside(object.Semaphore(nil, claims).Named(""), lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			one, two := handle(p.Conn()), handle(p.Conn())
			if !p.Persist(func(int) error { return acquire(p, p.Context(), one, "one") }) {
				return
			}
			soon, cancel := context.WithTimeout(p.Context(), 50*time.Millisecond)
			if acquire(p, soon, two, "two") == nil {
				release(p, two, "two")
			}
			cancel()
			release(p, one, "one")
		}
	}
	return w
}

func acquire(p *scenario.Player, ctx context.Context, l *naked, which string) error {
	return p.Do(ops.Acquire, which, func(context.Context) (linearizability.Result, error) {
		err := l.Lock(ctx)
		return linearizability.Result{Token: l.Token()}, err
	})
}

func release(p *scenario.Player, l *naked, which string) {
	p.Attempt(3, func(int) error {
		return p.Do(ops.Release, which, func(ctx context.Context) (linearizability.Result, error) {
			return linearizability.Result{}, l.Unlock(ctx)
		})
	})
}
