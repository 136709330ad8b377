package scenario_test

import (
	"context"
	"errors"
	"slices"
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

// tryingLock creates its only znode again and again, and takes an error of a delete for a success.
type tryingLock struct{ pollingLock }

func (l tryingLock) Lock(ctx context.Context) error {
	for {
		_, err := l.env.Conn.Create(l.env.Path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watchingLock waits for the only child before its own, and watches its own, too. It takes an error
// of a delete for a success.
type watchingLock struct {
	env  object.Env
	node *string
}

func (l watchingLock) Lock(ctx context.Context) error {
	conn, acl := l.env.Conn, zk.WorldACL(zk.PermAll)
	_, err := conn.Create(l.env.Path, nil, 0, acl)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	node, err := conn.Create(l.env.Path+"/n-", nil, zk.FlagEphemeral|zk.FlagSequence, acl)
	if err != nil {
		return err
	}
	*l.node = node
	for {
		names, _, err := conn.Children(l.env.Path)
		if err != nil {
			return err
		}
		slices.Sort(names)
		first := l.env.Path + "/" + names[0]
		if first == node {
			return nil
		}
		_, _, gone, err := conn.ExistsW(first)
		if err != nil {
			return err
		}
		_, _, lost, err := conn.ExistsW(node)
		if err != nil {
			return err
		}
		select {
		case <-gone:
		case <-lost:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l watchingLock) Unlock(context.Context) error {
	_ = l.env.Conn.Delete(*l.node, -1)
	return nil
}

// TestSummaryNamesWhatKeepsAWaiter: the znode because of which a write is refused for ever, and of
// two watches the one that is not for the loss of the own znode.
func TestSummaryNamesWhatKeepsAWaiter(t *testing.T) {
	for name, tt := range map[string]struct {
		lock func(env object.Env) object.Locker
		says string
	}{
		"a refused create": {func(env object.Env) object.Locker {
			return tryingLock{pollingLock{env}}
		}, "client a gets no further because of /lock (create: NodeExists, "},
		"two watches": {func(env object.Env) object.Locker {
			return watchingLock{env, new(string)}
		}, "client a waits for /lock/n-0000000000, which belongs to a's own session S1 and was " +
			"left by a's lock (steps "},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, scenario.Scenario{
				Workload: object.Lock(tt.lock, object.LockClaims{LeavesAtRest: []string{"/lock"}}).
					Named("waiting"),
				Script: scenario.Script{Clients: 1, Rounds: 2}, Seed: 2,
				Plan: plan(t, "drop-request client=a op=delete request=1"),
			})
			v, _ := o.Report.Verdict(linearizability.Liveness)
			summary := o.Result.Trace.Rename(v.Summary)
			if v.Status != linearizability.Violated || !strings.HasPrefix(summary, tt.says) {
				t.Errorf("liveness: %s\nwant: %s", summary, tt.says)
			}
		})
	}
}
