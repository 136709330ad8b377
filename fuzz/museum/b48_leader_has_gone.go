package museum

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func leaderHasGone() Exhibit {
	return Exhibit{
		ID: "B48", Title: "the leader goes while it is asked for",
		Report: "https://github.com/apache/curator/commit/3478aca7", // CURATOR-358
		Bug: "Who leads is found by two requests: a list, and the data of its first node. If the leader resigns between the two " +
			"that is a NoNode, which goes to a caller who has only asked.",
		Property: scenario.InvariantProperty,
		Wrong:    askForLeader(func(error) bool { return false }), // wrong: somebody else may lead now
		Right:    askForLeader(func(err error) bool { return errors.Is(err, zk.ErrNoNode) }),
	}
}

// askForLeader is a workload of an election whose candidates ask who leads before and
// after they do; again tells of which errors they look again.
func askForLeader(again func(error) bool) scenario.Workload {
	w := electionOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			c := candidate{newNaked(p.Conn(), lockDir)}
			whoLeads(p, again)
			if p.Persist(func(int) error { return lead(p, c) }) {
				p.Attempt(3, func(int) error { return resign(p, c) })
			}
			whoLeads(p, again)
		}
	}
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

func whoLeads(p *scenario.Player, again func(error) bool) {
	_ = p.Do(ops.Leader, "", func(context.Context) (linearizability.Result, error) {
		leader, err := firstNode(p.Conn())
		for again(err) {
			leader, err = firstNode(p.Conn())
		}
		return linearizability.Result{Output: leader, Empty: leader == ""}, err
	})
}

// firstNode is the first of the candidates' nodes, "" if there is none.
func firstNode(conn *zk.Conn) (string, error) {
	names, _, err := conn.Children(lockDir)
	if err != nil || len(names) == 0 {
		return "", err
	}
	first := slices.MinFunc(names, bySequence)
	_, _, err = conn.Get(lockDir + "/" + first)
	return first, err
}
