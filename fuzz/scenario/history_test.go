package scenario_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// pollingLock polls its only znode, and takes an error of a delete for a success.
type pollingLock struct{ env object.Env }

func (l pollingLock) Lock(ctx context.Context) error {
	for {
		_, err := l.env.Conn.Create(l.env.Path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		for gone := false; !gone; {
			exists, _, err := l.env.Conn.Exists(l.env.Path)
			if err != nil {
				return err
			}
			if gone = !exists; !gone {
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
	}
}

func (l pollingLock) Unlock(context.Context) error {
	_ = l.env.Conn.Delete(l.env.Path, -1)
	return nil
}

func TestSummaryNamesAPollAndALostDelete(t *testing.T) {
	w := object.Lock(func(env object.Env) object.Locker { return pollingLock{env} }).Named("polling")
	o := run(t, scenario.Scenario{ // with a seed by which the client does not leave for good
		Workload: w, Script: scenario.Script{Clients: 1, Rounds: 2}, Seed: 2,
		Plan: plan(t, "drop-request client=a op=delete request=1"),
	})
	v, _ := o.Report.Verdict(linearizability.Liveness)
	if v.Status != linearizability.Violated ||
		!strings.HasPrefix(v.Summary, "client a polls /lock, ") ||
		!strings.Contains(v.Summary, "a delete of it was lost at step ") {
		t.Errorf("liveness: %s", v)
	}
}
