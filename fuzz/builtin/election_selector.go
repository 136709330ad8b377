package builtin

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// selectorElector is a LeaderSelector that is a candidate again after each term. Each call of
// TakeLeadership waits until the script calls Lead.
type selectorElector struct {
	*recipes.LeaderSelector
	turns chan turn
	turn  turn // the latest
}

// turn is one call of TakeLeadership.
type turn struct {
	ctx  context.Context
	over chan struct{} // closed when it returns
}

func newSelectorElector(env object.Env) *selectorElector {
	e := &selectorElector{turns: make(chan turn)}
	selector := recipes.NewLeaderSelector(env.Conn, env.Path, env.Name, e)
	e.LeaderSelector = selector.AutoRequeue()
	return e
}

// TakeLeadership leads until its context is done.
func (e *selectorElector) TakeLeadership(ctx context.Context) {
	t := turn{ctx, make(chan struct{})}
	defer close(t.over)
	select {
	case e.turns <- t:
		<-ctx.Done()
	case <-ctx.Done():
	}
}

func (e *selectorElector) Lead(ctx context.Context) error {
	if err := e.Start(); err != nil {
		return err
	}
	select {
	case e.turn = <-e.turns:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *selectorElector) Resign(ctx context.Context) error {
	if e.turn.ctx.Err() != nil {
		return nil // an interrupt could end the next turn
	}
	e.Interrupt()
	select {
	case <-e.turn.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *selectorElector) Lost() <-chan struct{} { return e.turn.ctx.Done() }
func (e *selectorElector) Token() int64          { return recipes.LeaderEpoch(e.turn.ctx) }

func (e *selectorElector) Leader(ctx context.Context) (string, int64, error) {
	leader, _, err := e.LeaderSelector.Leader(ctx)
	return leader.ID, leader.Epoch, err
}

func leaderSelector() scenario.Workload {
	return object.Election(func(env object.Env) object.Elector {
		return newSelectorElector(env)
	}, object.LockClaims{
		About: "the leader selector of package recipes, with auto-requeue", Fair: true, MaxHerd: 1,
	}).Named("recipes.LeaderSelector")
}
