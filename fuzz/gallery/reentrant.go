package gallery

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

var publishedReentrant = []Exhibit{
	{Slug: "reentry-outlives-session", Alias: "S3-2",
		Title:  "the count of a re-entrant lock outlives the session",
		Source: Code, Link: "https://github.com/apache/curator/blob/apache-curator-5.9.0/curator-recipes/src/main/java/org/apache/curator/framework/recipes/locks/InterProcessMutex.java#L203-L210",
		See: []string{"S2-6", "S4-43", "curator-go/curator"},
		Bug: "The owner acquires again, and a counter in its memory says yes. Its session has " +
			"ended in between and its node is gone. Another client may own the lock that it gets.",
		Property: safety,
		Wrong:    reentrantOf(func(n *nested) { n.again = nothing })}, // wrong: no request
}

var plantedReentrant = []Exhibit{
	planted("the first unlock gives the lock up", safety, leavesLevels(
		func(int) int { return 0 })),
	planted("the last unlock but one gives the lock up", safety, leavesLevels(
		func(depth int) int { return max(0, depth-1) })),
	planted("a level more is left than was entered", liveness, leavesLevels(
		func(depth int) int { return depth + 1 })),
}

// nested is a lock that counts its levels.
type nested struct {
	*plainLock
	depth int
	again func() error        // lock a lock that is held
	left  func(depth int) int // number of levels after an unlock
}

func newNested(l *plainLock) *nested {
	return &nested{plainLock: l, again: l.confirmOwner, left: func(depth int) int { return depth }}
}

// reentrantOf is a workload of a re-entrant lock with some steps replaced.
func reentrantOf(steps ...func(*nested)) scenario.Workload {
	return beside(object.Reentrant(func(env object.Env) object.Locker {
		return with(newNested(newLock(env.Conn, lockDir)), steps)
	}, claims), lockDir)
}

func leavesLevels(left func(depth int) int) scenario.Workload {
	return reentrantOf(func(n *nested) { n.left = left })
}

func (n *nested) Lock(ctx context.Context) error { return n.enter(ctx, n.plainLock.Lock) }

// enter goes a level deeper; lock is for the first one.
func (n *nested) enter(ctx context.Context, lock func(context.Context) error) (err error) {
	if n.depth == 0 {
		err = lock(ctx)
	} else {
		err = n.again()
	}
	if err == nil {
		n.depth++
	}
	return err
}

func (n *nested) Unlock(context.Context) error {
	n.depth = max(0, n.depth-1)
	if n.left(n.depth) > 0 {
		return nil
	}
	return n.leave()
}
