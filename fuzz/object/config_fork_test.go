package object_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// forked is a configuration centre on a fork of the client package: its errors have the words of
// go-zookeeper's, and are others.
type forked struct{ *builtin.ConfigCenter }

func (c forked) Create(ctx context.Context, key string, value []byte) error {
	err := c.ConfigCenter.Create(ctx, key, value)
	if err != nil {
		return fmt.Errorf("create: %w", errors.New(lastOf(err).Error()))
	}
	return nil
}

func lastOf(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

func TestRefusalsInTheWordsOfAForkAreKnown(t *testing.T) {
	w := object.Config(func(env object.Env) object.Configurer {
		return forked{builtin.NewConfigCenter(env)}
	}, object.ConfigClaims{Silent: true, Recheck: builtin.Recheck})
	refused := 0
	for seed := range uint64(30) {
		o := run(t, scenario.Scenario{Workload: w.Named("forked"), Seed: seed,
			Script: scenario.Script{Clients: 2, Rounds: 2}})
		check.Equal(t, o.Status(), linearizability.OK, "seed %d: %s", seed, o.Summary())
		for _, op := range o.History.Ops {
			if op.Output == ops.Refused {
				refused++
			}
		}
	}
	check.Equal(t, refused > 3, true, "%d refusals", refused)
}
