package gallery

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var publishedReentrant = []Exhibit{
	{
		Slug: "reentry-outlives-session", Alias: "S3-2",
		Title:  "the count of a re-entrant lock outlives the session",
		Source: Code, Link: "https://github.com/apache/curator/blob/apache-curator-5.9.0/curator-recipes/src/main/java/org/apache/curator/framework/recipes/locks/InterProcessMutex.java#L203-L210",
		See: []string{"S2-6", "S4-43"},
		Bug: "The owner acquires again, and a counter in its memory says yes. Its session " +
			"has ended in between and its node is gone, so it is granted what somebody else owns.",
		Property: linearizability.Safety,
		Wrong:    reentrantOf(nested{still: func(*naked) error { return nil }}), // wrong: nobody is asked
	},
}

var plantedReentrant = []Exhibit{
	{
		Title: "the first unlock gives the lock up", Property: linearizability.Safety,
		Wrong: reentrantOf(nested{left: func(int) int { return 0 }}),
	},
	{
		Title: "the last unlock but one gives the lock up", Property: linearizability.Safety,
		Wrong: reentrantOf(nested{left: func(depth int) int { return max(0, depth-1) }}),
	},
	{
		Title: "a level more is left than was entered", Property: linearizability.Liveness,
		Wrong: reentrantOf(nested{left: func(depth int) int { return depth + 1 }}),
	},
}

// nested is a lock that counts how often it is held.
type nested struct {
	*naked
	depth int
	still func(*naked) error  // whether it is held still
	left  func(depth int) int // how many levels are left for a depth
}

// reentrantOf is a workload of a re-entrant lock; the zero value is right.
func reentrantOf(bad nested) scenario.Workload {
	return beside(object.Reentrant(func(env object.Env) object.Locker {
		n := bad
		n.naked = newNaked(env.Conn, lockDir)
		if n.still == nil {
			n.still = (*naked).confirmOwner
		}
		if n.left == nil {
			n.left = func(depth int) int { return depth }
		}
		return &n
	}, claims).Named(""), lockDir)
}

func (n *nested) Lock(ctx context.Context) (err error) {
	if n.depth == 0 {
		err = n.naked.Lock(ctx)
	} else {
		err = n.still(n.naked)
	}
	if err == nil {
		n.depth++
	}
	return err
}

func (n *nested) Unlock(ctx context.Context) error {
	n.depth = max(0, n.depth-1)
	if n.left(n.depth) > 0 {
		return nil
	}
	return n.naked.Unlock(ctx)
}
