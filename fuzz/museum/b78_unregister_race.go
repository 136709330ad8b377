package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func unregisterRace() Exhibit {
	return Exhibit{
		ID: "B78", Title: "registered again while it is taken back",
		Report: "https://github.com/apache/curator/issues/685", // CURATOR-164
		Bug: "After a reconnect all that is in the list of own services is registered again. To take one back its node is " +
			"deleted, and then it is taken off the list: if the connection breaks over the delete, the service is registered " +
			"between the two, and its node is there as long as the session lives.",
		Property: linearizability.Presence,
		Wrong: groupOf(func(g *attendant) {
			remove := g.afterReconnect()
			g.leave = func() error {
				err := remove()
				g.stopGuard() // wrong: too late
				return err
			}
		}),
		Right: groupOf(func(g *attendant) {
			remove := g.afterReconnect()
			g.leave = func() error {
				g.stopGuard()
				return remove()
			}
		}),
		Script: scenario.Script{Clients: 1, Rounds: 2}, // who is alone is not evicted
	}
}

// afterReconnect makes the guard look after a reconnect and in a new session only. It
// returns what deletes the node until it is known to be gone, and tells the guard when
// the connection breaks over that.
func (g *attendant) afterReconnect() (remove func() error) {
	broken := make(chan struct{}, 1)
	g.await = func(ctx context.Context, change <-chan zk.Event) error {
		for {
			select {
			case ev := <-change:
				if ev.Err != nil { // the session has ended, or all
					return ev.Err
				}
				change = nil
			case <-broken:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
	}
	return func() (err error) {
		for range attempts {
			if err = g.remove(); !errors.Is(err, zk.ErrConnectionClosed) {
				return err
			}
			select {
			case broken <- struct{}{}:
			default:
			}
		}
		return err
	}
}
