package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func watchUsedUp() Exhibit {
	return Exhibit{
		ID: "B76", Title: "the guard that heard of other data",
		Report: "https://github.com/apache/curator/issues/778", // CURATOR-258
		Bug: "The guard of a persistent ephemeral waits for its deletion. When its data changes the watch fires for that, and " +
			"is not set again: when the node is deleted later nobody makes it again.",
		Property: linearizability.Presence,
		Wrong: notingOf(func(g *attendant) {
			g.await = func(ctx context.Context, change <-chan zk.Event) error {
				select {
				case ev := <-change:
					if errors.Is(ev.Err, zk.ErrClosing) {
						return ev.Err
					}
					if ev.Type == zk.EventNodeDataChanged {
						<-ctx.Done() // wrong: the watch is used up
					}
				case <-ctx.Done():
				}
				return nil
			}
		}),
		Right: notingOf(nil),
	}
}

// noting is an attendant whose data can be changed.
type noting struct{ *attendant }

func (n noting) Update(_ context.Context, data string) error {
	_, err := n.conn.Set(n.path(), []byte(data), -1)
	if err == nil {
		n.data = data
	}
	return err
}

// notingOf is groupOf with data that can be changed.
func notingOf(replace func(*attendant)) scenario.Workload {
	w := object.Membership(func(env object.Env) object.Roster {
		return noting{newAttendant(env.Conn, env.Name, replace)}
	}).Named("")
	return beside(w, membersDir)
}
