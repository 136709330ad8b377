package museum

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz"
)

// candidate is a naked lock as an election: who owns it leads.
type candidate struct{ *naked }

func (c candidate) Lead(ctx context.Context) error   { return c.Lock(ctx) }
func (c candidate) Resign(ctx context.Context) error { return c.Unlock(ctx) }
func (c candidate) Close(ctx context.Context) error  { return c.Unlock(ctx) }

// electionOf is a workload of an election by a naked lock with some steps replaced.
func electionOf(replace func(*naked)) fuzz.Workload {
	return openElection(func(_ context.Context, c *zk.Conn) fuzz.Elector { return candidate{remade(c, lockDir, replace)} })
}

// openElection is a workload of any election at /lock. What goes on in the background
// ends with the context that open gets.
func openElection(open func(context.Context, *zk.Conn) fuzz.Elector) fuzz.Workload {
	under := func(ctx context.Context) fuzz.Workload {
		return fuzz.ElectionWorkload(func(env fuzz.Env) fuzz.Elector { return open(ctx, env.Conn) }, claims).Named("")
	}
	w := beside(under(nil), lockDir)
	w.Play = func(p *fuzz.Player, s fuzz.Script) { under(p.Context()).Play(p, s) }
	return w
}
