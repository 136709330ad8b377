package builtin

import (
	"context"
	"errors"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

func twoPhaseCommit() scenario.Workload {
	return object.TwoPhase(func(env object.Env) object.TwoPhaser {
		return TwoPhaser(coordinated{recipes.NewTwoPhaseCommit(env.Conn, env.Path)})
	}, object.TwoPhaseClaims{
		About: "the two-phase commit of package recipes", Definite: true,
	}).Named("recipes.TwoPhaseCommit")
}

// coordinated is a transaction of package recipes.
type coordinated struct{ *recipes.TwoPhaseCommit }

func (c coordinated) Begin(ctx context.Context, sites []string, deadline time.Time) error {
	return c.TwoPhaseCommit.Begin(ctx, recipes.Transaction{Sites: sites, Deadline: deadline})
}

func (c coordinated) Await(ctx context.Context) (bool, error) {
	d, err := c.TwoPhaseCommit.Await(ctx)
	return d.Commit, err
}

// fullTwoPhaser is a TwoPhaser with all optional methods.
type fullTwoPhaser interface {
	object.TwoPhaser
	object.TwoPhaseJoiner
	object.TwoPhaseFinisher
}

// TwoPhaser adapts a transaction that returns the errors of recipes.TwoPhaseCommit. It is definite.
func TwoPhaser(tx fullTwoPhaser) object.TwoPhaser { return translated{tx} }

// translated is a transaction with the errors of package object.
type translated struct{ tx fullTwoPhaser }

func translate(err error) error {
	switch {
	case errors.Is(err, recipes.ErrNoTransaction):
		return meaning{err, object.ErrNoTransaction}
	case errors.Is(err, recipes.ErrTransactionExists), errors.Is(err, recipes.ErrUnfinished):
		return meaning{err, object.ErrFinal}
	case recipes.OutcomeOf(err) == recipes.Unknown:
		return meaning{err, object.ErrAmbiguous}
	}
	return err
}

func (t translated) Begin(ctx context.Context, sites []string, deadline time.Time) error {
	return translate(t.tx.Begin(ctx, sites, deadline))
}

func (t translated) Vote(ctx context.Context, site string, yes bool) error {
	return translate(t.tx.Vote(ctx, site, yes))
}

func (t translated) Await(ctx context.Context) (bool, error) {
	commit, err := t.tx.Await(ctx)
	return commit, translate(err)
}

func (t translated) Forget(ctx context.Context) error { return translate(t.tx.Forget(ctx)) }

func (t translated) Join(ctx context.Context, site string) error {
	return translate(t.tx.Join(ctx, site))
}

func (t translated) Done(ctx context.Context, site string) error {
	return translate(t.tx.Done(ctx, site))
}

func (t translated) Close(ctx context.Context) error { return t.tx.Close(ctx) }
