package gallery

import (
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var plantedRevocableLocks = []Exhibit{
	{Title: "never hears that it was asked", Property: delivery, Wrong: revocableOf(false)},
	{Title: "hears it though nobody has asked", Property: delivery, Wrong: revocableOf(true)},
}

// revocableOf is a workload of a revocable lock that is always asked to give way, or never.
func revocableOf(always bool) scenario.Workload {
	return object.Revocable(func(env object.Env) object.RevocableLocker {
		return revocableLock{recipes.NewRevocableLock(env.Conn, "/revocable"), signal(always)}
	})
}

type revocableLock struct {
	*recipes.RevocableLock
	revoked chan struct{}
}

func (l revocableLock) Revoked() <-chan struct{} { return l.revoked }
