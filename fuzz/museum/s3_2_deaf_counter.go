package museum

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func deafCounter() Exhibit {
	return Exhibit{
		ID: "S3-2", Title: "the count of a re-entrant lock outlives the session",
		Report: "https://github.com/apache/curator/blob/master/curator-recipes/src/main/java/org/apache/curator/framework/recipes/locks/InterProcessMutex.java",
		See:    []string{"S2-6", "S4-43"},
		Bug: "The owner acquires again, and a counter in its memory says yes. Its session has ended in between and its node is " +
			"gone, so it is granted what somebody else owns.",
		Property: linearizability.Safety,
		Wrong:    nestedOf(func(*naked) error { return nil }), // wrong: nobody is asked
		Right:    nestedOf((*naked).confirmOwner),
	}
}

// nested counts how often it is held.
type nested struct {
	*naked
	depth int
	still func(*naked) error // whether it is held still
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
	if n.depth--; n.depth > 0 {
		return nil
	}
	n.depth = 0
	return n.naked.Unlock(ctx)
}

// nestedOf is a workload of clients that read something while they hold the lock, and
// then lock it again.
func nestedOf(still func(*naked) error) scenario.Workload {
	w := beside(object.Reentrant(nil, claims).Named(""), lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		l := &nested{naked: newNaked(p.Conn(), lockDir), still: still}
		for range s.Rounds {
			if !p.Persist(func(int) error { return playLock(p, l, "") }) {
				return
			}
			p.Persist(func(int) error { _, _, err := p.Conn().Exists(lockDir); return err }) // the work
			if playLock(p, l, "") == nil {
				playUnlock(p, l, "")
			}
			playUnlock(p, l, "")
		}
	}
	return w
}
