package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func serviceDeleted() Exhibit {
	return Exhibit{
		ID: "S4-15", Title: "the service goes while somebody comes",
		Report: curatorCaches,
		Bug: "When the last address has gone the node of the service is deleted. A provider that has just found it, to make its " +
			"address below it, fails with NoNode, and does not register.",
		Property: scenario.InvariantProperty,
		Wrong:    sharedService(func(error) bool { return false }), // wrong: it can make another
		Right:    sharedService(func(err error) bool { return errors.Is(err, zk.ErrNoNode) }),
	}
}

// sharedService is a workload of providers of one service, of whom the last deletes it;
// again tells of which errors a registration is done again.
func sharedService(again func(error) bool) scenario.Workload {
	const service = membersDir + "/web"
	w := beside(groupOf(nil), membersDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		own := service + "/" + p.Name()
		for round := range s.Rounds {
			_ = p.Do(ops.Join, "", func(context.Context) (linearizability.Result, error) {
				err := register(p.Conn(), service, own)
				for again(err) {
					err = register(p.Conn(), service, own)
				}
				return linearizability.Result{}, err
			})
			p.Hold(scenario.At("hold", round), nil)
			for _, path := range []string{own, service} {
				_ = p.Conn().Delete(path, -1) // it may be gone, or not be empty
			}
		}
	}
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

// register makes the service, if need be, and the own node.
func register(conn *zk.Conn, service, own string) error {
	_, err := conn.Create(service, nil, 0, acl)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	if _, err = conn.Create(own, nil, zk.FlagEphemeral, acl); errors.Is(err, zk.ErrNodeExists) {
		err = nil
	}
	return err
}
