package museum

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func toldOfRelease() Exhibit {
	return Exhibit{
		ID: "S0-7", Title: "released, says the listener",
		Report: writeLockSource,
		Bug: "WriteLock.unlock tells its listener that the lock is released in a finally, whether the delete has succeeded or " +
			"not. The node may be there, and the lock is nobody's for as long as the session lives.",
		Property: scenario.InvariantProperty,
		Wrong:    listenedOf(func(error) bool { return true }), // wrong: it may have failed
		Right:    listenedOf(func(err error) bool { return err == nil || errors.Is(err, zk.ErrNoNode) }),
	}
}

// kindReleased is what the listener hears. Its result has the token of the node.
const kindReleased = "released"

// listenedOf is a workload of a lock with a listener, which is told that it is released
// or not, depending on what became of the delete.
func listenedOf(tells func(deleted error) bool) scenario.Workload {
	w := openLock(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			l := newNaked(p.Conn(), lockDir)
			l.leave = func() error {
				err := l.conn.Delete(l.path(l.own), -1)
				if tells(err) {
					_ = p.Do(kindReleased, "", func(context.Context) (linearizability.Result, error) {
						return linearizability.Result{Token: l.Token()}, nil
					})
					return nil
				}
				return err
			}
			playRound(p, l, "", round)
		}
	}
	return judgedBy(w, "what is told to be released has no node", releasedWithNode)
}

// releasedWithNode says whose listener was told of a release when the node was there.
func releasedWithNode(e scenario.Evidence) error {
	for _, op := range e.History.Ops {
		if op.Kind != kindReleased {
			continue
		}
		if step, removed := removedAt(e.History, op.Token); !removed || step > op.Call {
			return fmt.Errorf("%s's listener was told so at step %d, and the node was there", op.Client, op.Call)
		}
	}
	return nil
}
