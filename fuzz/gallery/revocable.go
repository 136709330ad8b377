package gallery

import (
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var plantedRevocableLocks = []Exhibit{
	{
		Title: "never hears that it was asked", Property: linearizability.Delivery,
		Wrong: revocableOf(false),
	},
	{
		Title: "hears it though nobody has asked", Property: linearizability.Delivery,
		Wrong: revocableOf(true),
	},
}

// revocableOf is a workload of a revocable lock that always hears that it was asked to
// give way, or never.
func revocableOf(always bool) scenario.Workload {
	return object.Revocable(func(env object.Env) object.RevocableLocker {
		revoked := make(chan struct{})
		if always {
			close(revoked)
		}
		return deafRevocable{recipes.NewRevocableLock(env.Conn, "/revocable"), revoked}
	}).Named("")
}

type deafRevocable struct {
	*recipes.RevocableLock
	revoked chan struct{}
}

func (l deafRevocable) Revoked() <-chan struct{} { return l.revoked }
