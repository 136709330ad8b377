package gallery

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedLockWait = []Exhibit{
	{Slug: "watch-on-nothing", Alias: "B6", Title: "waits for a node that is gone",
		Source: Report, Link: "https://github.com/apache/helix/pull/44",
		See: []string{"S0-3", "S3-5", "kazoo PR 490"},
		Bug: "The predecessor goes between the list and the look at it. The waiter does not " +
			"check that it was there when the watch was set, and waits for a deletion that has " +
			"been.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			l.await = func(ctx context.Context, ahead string) bool {
				// wrong: the node may not exist
				if _, _, gone, err := l.conn.ExistsW(l.path(ahead)); err == nil {
					await(ctx, gone)
				}
				return false
			}
		})},
	{Slug: "woken-means-owner", Alias: "S1-2", Title: "a woken waiter owns the lock",
		Source: Text, Link: "https://geekdaxue.co/read/maojiawei@vzbhgd/zlge44",
		See: []string{"S3-6"},
		Bug: "When the watch on the predecessor fires, the client takes the lock without looking " +
			"again, which the guide's steps ask for. The predecessor was waiting, too, and has " +
			"given up or died: the owner is still there.",
		Property: safety, Wrong: lockOf(func(l *plainLock) {
			l.await = func(ctx context.Context, ahead string) bool {
				_, _, gone, err := l.conn.GetW(l.path(ahead))
				if err != nil {
					return false
				}
				event, err := await(ctx, gone)
				return err == nil && event.Err == nil && l.confirm() == nil // wrong: without a look
			}
			l.fatal = func(err error) bool {
				if !errors.Is(err, errGone) {
					return false
				}
				_ = l.leave()
				return true
			}
		})},
	{Slug: "all-watch-directory", Alias: "S2-2", Title: "all waiters watch the directory",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/recipes.md#leader-election",
		See: []string{"S1-1", "S4-42"},
		Bug: "Each waiter watches the children of the directory. Each contender that comes or " +
			"goes wakes all of them, though one of them at most can go on: the herd effect, " +
			"quadratic in the number of waiters.",
		Property: herd, Wrong: oneAtATime(func(l *plainLock) {
			l.await = func(ctx context.Context, _ string) bool {
				_, _, changed, err := l.conn.ChildrenW(l.dir) // wrong: the node ahead is enough
				if err != nil {
					return false
				}
				if ahead, err := l.look(); err == nil && ahead != "" {
					await(ctx, changed)
				}
				return false
			}
		}), Right: oneAtATime()},
	{Slug: "locked-again-after-unlock", Alias: "S0-8",
		Title:  "a watch locks again after the lock was given up",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java#L156-L165",
		Bug: "Every event of the watch on the predecessor calls lock again. If the lock has been " +
			"given up meanwhile, its node is gone, so a new one is made: for a lock that has no " +
			"caller to unlock it.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			left := &atomic.Bool{}
			l.join = l.once(func() error {
				left = &atomic.Bool{}
				return l.make()
			})
			l.giveUp = func(ctx context.Context) error {
				left.Store(true)
				return l.leaveAndTell(ctx)
			}
			l.await = func(ctx context.Context, ahead string) bool {
				_, _, gone, err := l.conn.GetW(l.path(ahead))
				if err != nil {
					return false
				}
				woken, left := make(chan struct{}), left
				go func() {
					defer close(woken)
					if ev := <-gone; ev.Err == nil && left.Load() {
						_ = newLock(l.conn, l.dir).join() // wrong: it has been given up
					}
				}()
				select {
				case <-woken:
				case <-ctx.Done():
				}
				return false
			}
		})},
	{Slug: "foreign-child-owns", Alias: "S0-10",
		Title:  "a child without a number is the first in line",
		Source: Report, Link: "https://github.com/apache/curator/issues/564",
		Bug: "A child that is no contender, such as the directory of another lock, counts as " +
			"one. A name without a number sorts first. So that child owns the lock, and never " +
			"gives it up.",
		Property: liveness, Wrong: beside(lockOf(countsAllChildren), foreign),
		Right: beside(lockOf(), foreign)},
	{Slug: "foreign-child-fails-lock", Alias: "G11",
		Title:  "one foreign child fails every Lock of the Go client",
		Source: Report, Link: "https://github.com/samuel/go-zookeeper/issues/64",
		Bug: "Lock parses the names of all children and gives up at the first that has no " +
			"number, after it has made its own node, which stays. So does each later Lock of " +
			"every client.",
		Property: liveness, Wrong: beside(lockOf(failing, countsAllChildren, func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				for _, name := range queue {
					if !hasNumber(name) { // wrong: it is no contender
						return "", fmt.Errorf("%w: %s has no number", errFailed, name)
					}
				}
				return l.predecessor(queue)
			}
		}), foreign), Right: beside(lockOf(), foreign)},
	{Slug: "timeout-leaves-node", Alias: "B31", Title: "a timeout leaves the node",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/49",
		See: []string{"S0-9", "S3-4"},
		Bug: "An acquire that times out returns, and its node stays in the queue. When its turn " +
			"comes the lock has no owner, and no client gets it while that session lives.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			l.giveUp = func(ctx context.Context) error {
				l.forget() // wrong: the node stays
				return ctx.Err()
			}
		})},
	{Slug: "cleanup-in-cancelled-context", Alias: "B39",
		Title:  "clean-up under the context that was cancelled",
		Source: Report, Link: "https://github.com/vitessio/vitess/pull/15757",
		Bug: "The caller's context ends the wait, and is then handed to the request that should " +
			"delete the node. That refuses to begin. The node stays, and with it the lock.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			l.giveUp = func(ctx context.Context) error {
				return l.deleteUnder(ctx, l.forget()) // wrong: ctx is done
			}
		}), Right: lockOf(func(l *plainLock) {
			l.giveUp = func(ctx context.Context) error {
				_ = l.deleteUnder(context.WithoutCancel(ctx), l.forget())
				return ctx.Err()
			}
		})},
	{Slug: "cleanup-tried-once", Alias: "B9", Title: "clean-up is tried once",
		Source: Report, Link: "https://github.com/python-zk/kazoo/pull/760",
		See: []string{"DataDog/kafka-kit"},
		Bug: "An acquire that is given up deletes its node, once, and swallows the error. If the " +
			"connection is lost just then and the session lives, the contender stays, and all " +
			"others wait behind it.",
		Property: liveness, Wrong: lockOf(func(l *plainLock) {
			l.giveUp = func(ctx context.Context) error {
				_ = l.conn.Delete(l.path(l.forget()), -1) // wrong: best effort
				return ctx.Err()
			}
		})},
	{Slug: "timeout-begins-anew", Alias: "S3-7", Title: "the timeout begins anew at each wake-up",
		Source: Ours, Remark: "No report, code or text was found that has it.",
		Bug: "A wait with a timeout is woken by each change of the directory, and waits again, " +
			"for the whole timeout and not for the rest of it. While others come and go it never " +
			"ends.",
		Property: liveness, Says: "after its context was done",
		// wrong: the time that has passed does not count
		Wrong: besideBusy(func(_, timeout time.Duration) time.Duration { return timeout }),
		Right: besideBusy(func(since, timeout time.Duration) time.Duration {
			return timeout - since
		})},
}

// timed is a lock that counts the time of a wait by itself: left is the timeout of another wait,
// by the time since the first and by the timeout.
type timed struct {
	*plainLock
	left func(since, timeout time.Duration) time.Duration
}

func (l timed) lock(ctx context.Context, timeout time.Duration) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	begun := time.Now()
	l.await = func(ctx context.Context, _ string) bool {
		_, _, change, err := l.conn.ChildrenW(l.dir)
		if err != nil {
			return false
		}
		if ahead, err := l.look(); err == nil && ahead == "" {
			return false
		}
		select {
		case <-change:
		case <-time.After(max(0, l.left(time.Since(begun), timeout))):
			end()
		case <-ctx.Done():
		}
		return false
	}
	return l.Lock(ctx)
}

// besideBusy is a workload of a lock whose first client holds it for long. The second one wants it
// for a short time only, and the others come and go meanwhile.
func besideBusy(left func(since, timeout time.Duration) time.Duration) scenario.Workload {
	const hold, timeout, visit = 10 * time.Second, time.Second, 500 * time.Millisecond
	w := lockOf()
	w.Play = func(p *scenario.Player, s scenario.Script) {
		l := newLock(p.Conn(), lockDir)
		if p.Index() == 0 {
			if playLock(p, l, ops.Lock, "") {
				p.Pause(hold)
				playUnlock(p, l, ops.Unlock, "")
			}
			return
		}
		p.Pause(visit)
		if p.Index() == 1 {
			tryWithin(p, l, timeout, func(context.Context) error {
				return timed{l, left}.lock(p.Context(), timeout)
			})
			return
		}
		for range 10 * s.Rounds {
			tryWithin(p, l, visit, l.Lock)
		}
	}
	return w
}

// tryWithin tries to lock for some time, and unlocks at once.
func tryWithin(p *scenario.Player, l *plainLock, d time.Duration,
	lock func(context.Context) error) {
	err := p.Do(ops.Lock, "", func(ctx context.Context) (linearizability.Result, error) {
		ctx, cancel := p.Within(ctx, d)
		defer cancel()
		err := lock(ctx)
		return linearizability.Result{Token: l.Token()}, err
	})
	if err == nil {
		playUnlock(p, l, ops.Unlock, "")
	}
}

// countsAllChildren takes each child for a contender.
func countsAllChildren(l *plainLock) { l.contender = func(string) bool { return true } }

// oneAtATime is a workload of a plain lock that wakes one waiter with a release.
func oneAtATime(steps ...func(*plainLock)) scenario.Workload {
	return beside(object.Lock(func(env object.Env) object.Locker {
		return newLock(env.Conn, lockDir, steps...)
	}, oneWaiterWoken), lockDir)
}

// deleteUnder deletes a node unless ctx is done.
func (l *plainLock) deleteUnder(ctx context.Context, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return remove(l.conn, l.path(name))
}
