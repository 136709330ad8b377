package object_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// ownerLock is held by one ephemeral. What belongs to the session is taken for the lock's own: two
// of one session both own it.
type ownerLock struct{ env object.Env }

func (l ownerLock) Lock(ctx context.Context) error {
	acl := zk.WorldACL(zk.PermAll)
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		// A create that has succeeded may be of a session that has ended by now.
		_, _ = l.env.Conn.Create(l.env.Path, nil, zk.FlagEphemeral, acl)
		_, stat, err := l.env.Conn.Get(l.env.Path)
		if err == nil && stat.EphemeralOwner == l.env.Conn.SessionID() {
			return nil
		}
	}
	_ = l.Unlock(context.Background()) // the create may have made the node
	return ctx.Err()
}

func (l ownerLock) Unlock(context.Context) error {
	for {
		_, stat, err := l.env.Conn.Get(l.env.Path)
		if err == nil && stat.EphemeralOwner == l.env.Conn.SessionID() {
			err = l.env.Conn.Delete(l.env.Path, stat.Version)
		}
		if err == nil || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrClosing) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// onePerProcess lets one goroutine of a process at a time have the lock.
type onePerProcess struct {
	ownerLock
	turn chan struct{}
}

func (l onePerProcess) Lock(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := l.ownerLock.Lock(ctx)
	if err != nil {
		<-l.turn
	}
	return err
}

func (l onePerProcess) Unlock(ctx context.Context) error {
	defer func() { <-l.turn }()
	return l.ownerLock.Unlock(ctx)
}

// TestHandlesOfAClient: by default each goroutine has its own, and Handles says otherwise.
func TestHandlesOfAClient(t *testing.T) {
	own := func(env object.Env) object.Locker { return ownerLock{env} }
	shared := func(env object.Env) object.Locker {
		return onePerProcess{ownerLock{env}, make(chan struct{}, 1)}
	}
	for name, c := range map[string]struct {
		workload scenario.Workload
		property string
	}{
		"two locks of one session":         {object.Lock(own), "safety"},
		"one lock in one goroutine":        {object.Lock(own, object.LockClaims{Handles: object.OneHandle}), ""},
		"one lock for all, not made so":    {object.Lock(own, object.LockClaims{Handles: object.SharedHandle}), "safety"},
		"one lock for all goroutines":      {object.Lock(shared, object.LockClaims{Handles: object.SharedHandle}), ""},
		"two locks, each of one goroutine": {object.Lock(shared), "safety"},
	} {
		found, err := hunt.Hunt{Workload: c.workload, Seed: 1, Runs: 100, CheckDeterminism: true,
			Script: scenario.Script{Clients: 2, Rounds: 2, Servers: 1}}.Run(t.Context())
		check.OK(t, err)
		property := ""
		if o := found.First(); o != nil {
			property = o.Property()
			if o.Scenario.Script.Goroutines < 2 {
				t.Errorf("%s: without a second goroutine: %s", name, o.Summary())
			}
		}
		check.Equal(t, property, c.property, "%s: found", name)
		check.Equal(t, len(found.Divergences), 0, "%s: scenarios with two runs that differ", name)
	}
}
