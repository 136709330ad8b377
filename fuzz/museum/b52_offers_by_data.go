package museum

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func offersByData() Exhibit {
	return Exhibit{
		ID: "B52", Title: "any peer that leaves fails the election of another",
		Report: "https://github.com/apache/zookeeper/blob/master/zookeeper-recipes/zookeeper-recipes-election/src/main/java/org/apache/zookeeper/recipes/leader/LeaderElectionSupport.java",
		Bug: "LeaderElectionSupport reads the data of every offer in the list. One that is gone by then is a NoNode that nobody " +
			"expects: the candidate fails, and its own offer stays in front of all later ones.",
		Property: linearizability.Liveness,
		Wrong: openElection(func(_ context.Context, c *zk.Conn) object.Elector {
			return offers{failing(remade(c, lockDir, readEveryOffer))}
		}),
		Right: electionOf(nil),
	}
}

func readEveryOffer(l *naked) {
	l.ahead = func(queue []string) (string, error) {
		for _, name := range queue {
			if _, _, err := l.conn.Get(l.path(name)); errors.Is(err, zk.ErrNoNode) {
				return "", fmt.Errorf("%w: %s is gone", errFailed, name) // wrong: it is none of its business
			}
		}
		return l.predecessor(queue)
	}
}

// offers is an election by a lock that fails.
type offers struct{ *naked }

func (o offers) Lead(ctx context.Context) error   { return o.Lock(ctx) }
func (o offers) Resign(ctx context.Context) error { return o.Unlock(ctx) }
func (o offers) Close(ctx context.Context) error  { return o.Unlock(ctx) }
