package gallery

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var publishedLockWait = []Exhibit{
	{
		Slug: "watch-on-nothing", Alias: "B6",
		Title:  "waits for a node that is gone",
		Source: Report, Link: "https://github.com/apache/helix/pull/44",
		See: []string{"S0-3", "S3-5", "kazoo PR 490"},
		Bug: "The predecessor goes between the list and the look at it. Nobody asks whether it was " +
			"there when the watch was set, so the waiter waits for a deletion that has been.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.await = func(ctx context.Context, ahead string) {
				_, _, gone, err := l.conn.ExistsW(l.path(ahead)) // wrong: whether it exists is not asked
				if err != nil {
					return
				}
				select {
				case <-gone:
				case <-ctx.Done():
				}
			}
		}),
	},
	{
		Slug: "woken-means-owner", Alias: "S1-2",
		Title:  "who is woken owns the lock",
		Source: Text, Link: "https://geekdaxue.co/read/maojiawei@vzbhgd/zlge44",
		See: []string{"S3-6"},
		Bug: "When the watch on the predecessor fires, the client takes the lock without looking " +
			"again, which the guide's steps ask for. The predecessor was waiting, too, and has " +
			"given up or died: the owner is still there.",
		Property: linearizability.Safety,
		Wrong:    openLock(func(env object.Env) object.Locker { return hasty{newNaked(env.Conn, lockDir)} }),
	},
	{
		Slug: "all-watch-directory", Alias: "S2-2",
		Title:  "everybody watches the directory",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/recipes.md#leader-election",
		See: []string{"S1-1", "S4-42"},
		Bug: "Each waiter watches the children of the directory. Whoever comes or goes wakes all " +
			"of them, though one of them at most can go on: the herd effect, quadratic in the " +
			"number of waiters.",
		Property: linearizability.Herd,
		Wrong: oneAtATime(func(l *naked) {
			l.await = func(ctx context.Context, _ string) {
				_, _, changed, err := l.conn.ChildrenW(l.dir) // wrong: one of them is enough
				if err != nil {
					return
				}
				if ahead, err := l.look(); err != nil || ahead == "" {
					return
				}
				select {
				case <-changed:
				case <-ctx.Done():
				}
			}
		}),
		Right: oneAtATime(nil),
	},
	{
		Slug: "locked-again-after-unlock", Alias: "S0-8",
		Title:  "a watch locks again what was given up",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L156-L165",
		Bug: "Every event of the watch on the predecessor calls lock again. If the lock has been " +
			"given up meanwhile, there is no node any more, so one is made: for a lock that " +
			"nobody waits for and nobody will unlock.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			left := &atomic.Bool{}
			join := l.join
			l.join = func() error {
				if l.own == "" {
					left = &atomic.Bool{}
				}
				return join()
			}
			l.giveUp = func(ctx context.Context) error {
				left.Store(true)
				return l.leaveAndTell(ctx)
			}
			l.await = func(ctx context.Context, ahead string) {
				_, _, gone, err := l.conn.GetW(l.path(ahead))
				if err != nil {
					return
				}
				woken, left := make(chan struct{}), left
				go func() {
					defer close(woken)
					if ev := <-gone; ev.Err == nil && left.Load() {
						_ = newNaked(l.conn, l.dir).join() // wrong: it has been given up
					}
				}()
				select {
				case <-woken:
				case <-ctx.Done():
				}
			}
		}),
	},
	{
		Slug: "foreign-child-owns", Alias: "S0-10",
		Title:  "a child without a number is the first in line",
		Source: Report, Link: "https://github.com/apache/curator/issues/564",
		Bug: "A child that is no contender, such as the directory of another lock, counts as one. " +
			"What cannot be parsed sorts first, so it owns the lock, and will never give it up.",
		Property: linearizability.Liveness,
		Wrong:    beside(lockOf(func(l *naked) { l.contender = func(string) bool { return true } }), foreign),
		Right:    beside(lockOf(nil), foreign),
	},
	{
		Slug: "foreign-child-fails-lock", Alias: "G11",
		Title:  "one foreign child fails every Lock of the Go client",
		Source: Report, Link: "https://github.com/samuel/go-zookeeper/issues/64",
		Bug: "Lock parses the names of all children and gives up at the first that has no number, " +
			"after it has made its own node, which stays. So does each later Lock of every " +
			"client.",
		Property: linearizability.Liveness,
		Wrong: beside(failingLock(func(l *naked) {
			l.contender = func(string) bool { return true }
			l.ahead = func(queue []string) (string, error) {
				for _, name := range queue {
					if !hasNumber(name) {
						// wrong: it is none of its business
						return "", fmt.Errorf("%w: %s has no number", errFailed, name)
					}
				}
				return l.predecessor(queue)
			}
		}), foreign),
		Right: beside(lockOf(nil), foreign),
	},
	{
		Slug: "timeout-leaves-node", Alias: "B31",
		Title:  "a timeout leaves the node",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/49",
		See: []string{"S0-9", "S3-4"},
		Bug: "An acquire that times out returns, and its node stays in the queue. When its turn " +
			"comes the lock belongs to nobody, and nobody gets it while that session lives.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error {
				l.own = "" // wrong: forgotten, not deleted
				return ctx.Err()
			}
		}),
	},
	{
		Slug: "cleanup-in-cancelled-context", Alias: "B39",
		Title:  "clean-up under the context that was cancelled",
		Source: Report, Link: "https://github.com/vitessio/vitess/pull/15757",
		Bug: "The caller's context ends the wait, and is then handed to the request that should " +
			"delete the node. That refuses to begin. The node stays, and with it the lock.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error {
				name := l.own
				l.own = ""
				return l.deleteUnder(ctx, name) // wrong: ctx is done
			}
		}),
		Right: lockOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error {
				name := l.own
				l.own = ""
				_ = l.deleteUnder(context.WithoutCancel(ctx), name) // it ends with the connection only
				return ctx.Err()
			}
		}),
	},
	{
		Slug: "cleanup-tried-once", Alias: "B9",
		Title:  "clean-up as good as it gets",
		Source: Report, Link: "https://github.com/python-zk/kazoo/pull/760",
		Bug: "An acquire that is given up deletes its node, once, and swallows the error. If the " +
			"connection is lost just then and the session lives, the contender stays, and " +
			"everybody waits behind it.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error {
				_ = l.conn.Delete(l.path(l.own), -1) // wrong: best effort
				l.own = ""
				return ctx.Err()
			}
		}),
	},
}

type hasty struct{ *naked }

func (l hasty) Lock(ctx context.Context) error {
	if err := l.join(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		ahead, err := l.look()
		switch {
		case errors.Is(err, errGone):
			return errors.Join(err, l.leave())
		case err != nil:
			continue
		case ahead == "":
			return nil
		}
		_, _, gone, err := l.conn.GetW(l.path(ahead))
		if err != nil {
			continue
		}
		select {
		case ev := <-gone:
			if ev.Err == nil && l.confirm() == nil {
				return nil // wrong: somebody else may own it
			}
		case <-ctx.Done():
		}
	}
	return l.giveUp(ctx)
}

// oneAtATime is a workload of a naked lock of which a release wakes one waiter.
func oneAtATime(replace func(*naked)) scenario.Workload {
	claims := claims
	claims.MaxHerd = 1
	return beside(object.Lock(func(env object.Env) object.Locker { return remade(env.Conn, lockDir, replace) }, claims).Named(""), lockDir)
}

// deleteUnder deletes a node while ctx lets it.
func (l *naked) deleteUnder(ctx context.Context, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.remove(l.path(name))
}
