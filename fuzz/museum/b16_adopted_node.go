package museum

import (
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func adoptedNode() Exhibit {
	return Exhibit{
		ID: "B16", Title: "the node of the dying session is adopted",
		Report: "https://github.com/apache/curator/issues/1018", See: []string{"G3"},
		Bug: "The reply to the create is lost and the session ends. The new session searches for the GUID, finds the old " +
			"session's node, which is about to be removed, and takes it for its own: soon it owns nothing.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			var session int64
			l.join = func() error {
				if l.own != "" {
					return nil
				}
				err := l.joinOnce()
				session = l.conn.SessionID() // wrong: of who has found the node, not of the node
				return err
			}
			l.confirm = func() error {
				if session != l.conn.SessionID() {
					return errGone
				}
				return nil
			}
		}),
		Right:  lockOf(nil),
		Script: scenario.Script{Clients: 1, Rounds: 1},
	}
}
