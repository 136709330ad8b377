package builtin

import (
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

func twoPhaseCommit() scenario.Workload {
	return object.TwoPhase(func(env object.Env) object.TwoPhaser {
		return coordinated{recipes.NewTwoPhaseCommit(env.Conn, env.Path)}
	}, object.TwoPhaseClaims{
		About: "the two-phase commit of package recipes",
	}).Named("recipes.TwoPhaseCommit")
}

// coordinated is a transaction of package recipes as a TwoPhaser.
type coordinated struct{ *recipes.TwoPhaseCommit }

func (c coordinated) Begin(ctx context.Context, sites []string, deadline time.Time) error {
	return c.TwoPhaseCommit.Begin(ctx, recipes.Transaction{Sites: sites, Deadline: deadline})
}

func (c coordinated) Await(ctx context.Context) (bool, error) {
	d, err := c.TwoPhaseCommit.Await(ctx)
	return d.Commit, err
}
