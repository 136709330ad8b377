package hunt_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// namedLock is one node with the name of its holder, who deletes it after a look at the name: by
// then it may be the node of the next holder.
type namedLock struct {
	conn *zk.Conn
	name string
}

const namedNode = "/lock"

func (l *namedLock) Lock(ctx context.Context) error {
	for {
		_, err := l.conn.Create(namedNode, []byte(l.name), zk.FlagEphemeral,
			zk.WorldACL(zk.PermAll))
		if err == nil || !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		there, _, changed, err := l.conn.ExistsW(namedNode)
		switch {
		case err != nil:
			return err
		case !there:
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *namedLock) Unlock(context.Context) error {
	data, _, err := l.conn.Get(namedNode)
	if err != nil || string(data) != l.name {
		return err
	}
	return l.conn.Delete(namedNode, -1)
}

// TestReadsThatAreOldWhenTheyArrive are met within 500 scenarios, and accuse no right lock.
func TestReadsThatAreOldWhenTheyArrive(t *testing.T) {
	open := func(env object.Env) object.Locker { return &namedLock{env.Conn, env.Name} }
	for _, w := range []scenario.Workload{
		object.Lock(open).Named("named"), fuzztest.Builtin(t, "lock", ""),
	} {
		found, err := hunt.Hunt{
			Workload: w, Script: scenario.DefaultScript, Seed: 1, Runs: 500,
			Strategies: []string{"sweep", "pairs"}, Properties: []string{"safety"}, Findings: 9,
		}.Run(t.Context())
		check.OK(t, err)
		stolen := slices.ContainsFunc(found.Findings, func(f hunt.Finding) bool {
			return strings.Contains(f.Summary(), " deleted ")
		})
		wrong := w.Impl == "named"
		if stolen != wrong || !wrong && len(found.Findings) > 0 {
			t.Errorf("%s: another's node is deleted: %v; %d findings", w.Impl, stolen,
				len(found.Findings))
		}
	}
}
