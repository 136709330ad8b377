package museum

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
)

func vanishedPredecessor() Exhibit {
	return Exhibit{
		ID: "S4-23", Title: "the one ahead has just left",
		Report: turnTutorial,
		Bug: "A member reads the node ahead to watch it, and takes it for an error that there is none: it ends, and its own " +
			"node stays in the line. All who come later wait for it.",
		Property: linearizability.Liveness,
		Wrong: beside(fuzz.TurnQueueWorkload("", claims, func(c *zk.Conn) fuzz.Locker {
			l := failing(newNaked(c, lockDir))
			l.ahead = func(queue []string) (string, error) {
				ahead, err := l.predecessor(queue)
				if ahead == "" || err != nil {
					return ahead, err
				}
				there, _, err := c.Exists(l.path(ahead))
				if err == nil && !there {
					err = errFailed // wrong: it may be one's turn
				}
				return ahead, err
			}
			return l
		}), lockDir),
		Right: turnOf(nil),
	}
}
