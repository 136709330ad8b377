package museum

import (
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func vanishedPredecessor() Exhibit {
	return Exhibit{
		ID: "S4-23", Title: "the one ahead has just left",
		Report: turnTutorial,
		Bug: "A member reads the node ahead to watch it, and takes it for an error that there is none: it ends, and its own " +
			"node stays in the line. All who come later wait for it.",
		Property: linearizability.Liveness,
		Wrong: beside(object.TurnQueue(func(env object.Env) object.Locker {
			l := failing(newNaked(env.Conn, lockDir))
			l.ahead = func(queue []string) (string, error) {
				ahead, err := l.predecessor(queue)
				if ahead == "" || err != nil {
					return ahead, err
				}
				there, _, err := env.Conn.Exists(l.path(ahead))
				if err == nil && !there {
					err = errFailed // wrong: it may be one's turn
				}
				return ahead, err
			}
			return l
		}, claims).Named(""), lockDir),
		Right: turnOf(nil),
	}
}
