package museum

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// candidate is a naked lock as an election: who owns it leads.
type candidate struct{ *naked }

func (c candidate) Lead(ctx context.Context) error   { return c.Lock(ctx) }
func (c candidate) Resign(ctx context.Context) error { return c.Unlock(ctx) }
func (c candidate) Close(ctx context.Context) error  { return c.Unlock(ctx) }

// electionOf is a workload of an election by a naked lock with some steps replaced.
func electionOf(replace func(*naked)) scenario.Workload {
	return openElection(func(_ context.Context, c *zk.Conn) object.Elector { return candidate{remade(c, lockDir, replace)} })
}

// openElection is a workload of any election at /lock. What goes on in the background
// ends with the context that open gets.
func openElection(open func(context.Context, *zk.Conn) object.Elector) scenario.Workload {
	under := func(ctx context.Context) scenario.Workload {
		return object.Election(func(env object.Env) object.Elector { return open(ctx, env.Conn) }, claims).Named("")
	}
	w := beside(under(nil), lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) { under(p.Context()).Play(p, s) }
	return w
}
