package object_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// staleToken is a lock that keeps the token of its first hold.
type staleToken struct {
	*oneNode
	first int64
}

func (l *staleToken) Lock(ctx context.Context) error {
	err := l.oneNode.Lock(ctx)
	if err == nil && l.first == 0 {
		l.first = l.token
	}
	return err
}

func (l *staleToken) Token() int64 { return l.first }

// keeper is a lock that releases only every other hold.
type keeper struct {
	*oneNode
	kept bool
}

func (l *keeper) Lock(ctx context.Context) error {
	if l.kept {
		return nil
	}
	return l.oneNode.Lock(ctx)
}

func (l *keeper) Unlock(ctx context.Context) error {
	if l.kept = !l.kept; l.kept {
		return nil
	}
	return l.oneNode.Unlock(ctx)
}

// deaf is a lock that does not listen to the contexts of its callers.
type deaf struct{ *oneNode }

func (l deaf) Lock(context.Context) error { return l.oneNode.Lock(context.Background()) }

// adopting is a lock that takes any znode at its place for its own.
type adopting struct{ *oneNode }

func (l adopting) Lock(context.Context) error {
	_, err := l.conn.Create(l.node, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// quitting is a cache that follows its node until a read fails, as one of a missing node does.
type quitting struct {
	conn  *zk.Conn
	shown atomic.Pointer[object.CachedNode]
}

func (c *quitting) Ready(context.Context) error {
	go func() {
		for {
			data, stat, changed, err := c.conn.GetW("/cache")
			if err != nil {
				return
			}
			c.shown.Store(&object.CachedNode{Path: "/cache", Data: data, Zxid: stat.Mzxid})
			<-changed
		}
	}()
	return nil
}

func (c *quitting) Nodes() []object.CachedNode {
	if n := c.shown.Load(); n != nil {
		return []object.CachedNode{*n}
	}
	return nil
}

func (c *quitting) Stale() bool                 { return c.conn.State() != zk.StateHasSession }
func (c *quitting) Close(context.Context) error { return nil }

// restless is a lock that takes a znode with settings for the znode of another owner. It gives up
// its place many times.
type restless struct {
	conn *zk.Conn
	dir  string
}

func (l restless) Lock(context.Context) error {
	for _, path := range []string{l.dir, l.dir + "/settings"} {
		_, err := l.conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		own, err := l.conn.Create(l.dir+"/n-", nil, zk.FlagEphemeral|zk.FlagSequence,
			zk.WorldACL(zk.PermAll))
		if err != nil {
			return err
		}
		others, _, err := l.conn.Children(l.dir)
		if err != nil || len(others) == 1 || attempt == 50 {
			return err
		}
		if err := l.conn.Delete(own, -1); err != nil {
			return err
		}
	}
}

func (restless) Unlock(context.Context) error { return nil }

// counting is a double barrier whose members count each other. A member that leaves at once may not
// be counted by a slow one.
type counting struct {
	env object.Env
	own string
}

func (b *counting) Enter(ctx context.Context) (err error) {
	_, err = b.env.Conn.Create(b.env.Path, nil, 0, zk.WorldACL(zk.PermAll))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	b.own, err = b.env.Conn.Create(b.env.Path+"/m-", nil, zk.FlagEphemeral|zk.FlagSequence,
		zk.WorldACL(zk.PermAll))
	for err == nil {
		members, _, changed, listErr := b.env.Conn.ChildrenW(b.env.Path)
		if listErr != nil || len(members) >= b.env.Size {
			return listErr
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), b.env.Conn.Delete(b.own, -1))
		}
	}
	return err
}

func (b *counting) Leave(ctx context.Context) error {
	err := b.env.Conn.Delete(b.own, -1)
	if errors.Is(err, zk.ErrNoNode) {
		err = nil
	}
	for err == nil {
		members, _, changed, listErr := b.env.Conn.ChildrenW(b.env.Path)
		if listErr != nil || len(members) == 0 {
			return listErr
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// guideBarrier is the barrier of the ZooKeeper guide: after an event a waiter looks again.
type guideBarrier struct{ env object.Env }

func (b guideBarrier) Set(context.Context) error {
	if err := b.create("/barriers"); err != nil {
		return err
	}
	return b.create(b.env.Path)
}

func (b guideBarrier) create(path string) error {
	_, err := b.env.Conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

func (b guideBarrier) Remove(context.Context) error {
	err := b.env.Conn.Delete(b.env.Path, -1)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

func (b guideBarrier) Wait(ctx context.Context) error {
	for {
		up, _, changed, err := b.env.Conn.ExistsW(b.env.Path)
		if err != nil || !up {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestGuideBarrierSurvives: the barrier survives without the claim that all waiters pass.
func TestGuideBarrierSurvives(t *testing.T) {
	w := object.Barrier(func(env object.Env) object.Barrierer { return guideBarrier{env} })
	for seed := range uint64(30) {
		o := fuzztest.Run(t, scenario.Scenario{
			Workload: w, Script: scenario.DefaultScript, Seed: seed,
		})
		if v, _ := o.Report.Verdict(linearizability.Liveness); v.Status != linearizability.OK {
			t.Errorf("seed %d: %s", seed, v)
		}
	}
}

// forgivingCounter takes no heed of a refusal.
type forgivingCounter struct {
	conn *zk.Conn
	node string
}

func (c forgivingCounter) Add(_ context.Context, delta int64) (int64, error) {
	_, _ = c.conn.Create(c.node, []byte("0"), 0, zk.WorldACL(zk.PermAll))
	data, stat, err := c.conn.Get(c.node)
	if err != nil {
		return 0, err
	}
	value, _ := strconv.ParseInt(string(data), 10, 64)
	_, _ = c.conn.Set(c.node, []byte(strconv.FormatInt(value+delta, 10)), stat.Version)
	return value + delta, nil
}

// TestMutantsAreFound: each wrong object violates its property in some run, and the verdict names
// the cause.
func TestMutantsAreFound(t *testing.T) {
	lock := func(spoil func(*oneNode) object.Locker) scenario.Workload {
		return object.Lock(func(env object.Env) object.Locker {
			return spoil(&oneNode{conn: env.Conn, node: env.Path})
		})
	}
	quits := object.Cache(func(env object.Env) object.Cacher {
		return &quitting{conn: env.Conn}
	}, object.CacheClaims{Silent: true})
	tests := []struct {
		name           string
		workload       scenario.Workload
		property, says string
		plan           []string
	}{
		{"stale token", lock(func(l *oneNode) object.Locker { return &staleToken{oneNode: l} }),
			linearizability.Fencing, "which is not the czxid of its znode /lock", nil},
		{"keeper", lock(func(l *oneNode) object.Locker { return &keeper{oneNode: l} }),
			linearizability.Liveness, "did not give the lock up: /lock lived on", nil},
		{"deaf", lock(func(l *oneNode) object.Locker { return deaf{l} }),
			linearizability.Liveness, "after its context was done", nil},
		{"restless", object.Lock(func(env object.Env) object.Locker {
			return restless{env.Conn, env.Path}
		}), linearizability.Liveness, "livelock: from step", nil},
		{"counting", object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
			return &counting{env: env}
		}), linearizability.Liveness, "one has entered, so all that were there must enter", nil},
		{"looks again", object.Barrier(func(env object.Env) object.Barrierer {
			return guideBarrier{env}
		}, object.BarrierClaims{AllPass: true}), linearizability.Liveness,
			"did not pass when the barrier was removed", nil},
		{"adopting", lock(func(l *oneNode) object.Locker { return adopting{l} }),
			linearizability.Safety, "succeeded, but its last request was refused: create /lock: " +
				"NodeExists, for ", nil},
		{"forgiving", object.Counter(func(env object.Env) object.Counterer {
			return forgivingCounter{env.Conn, env.Path}
		}), linearizability.Linearizability, "but the server never applied it; the last write of a's add: " +
			"setData /counter ", nil},
		{"remembering", object.Counter(func(env object.Env) object.Counterer {
			return &rememberingCounter{Counter: recipes.NewCounter(env.Conn, env.Path)}
		}), linearizability.Linearizability, "sent no request during that call", nil},
		{"quitting without a node", quits, linearizability.Liveness,
			"read /cache last before that: getData+watch /cache: NoNode", nil},
		{"quitting after a lost read", quits, linearizability.Liveness,
			"the last time that a read /cache it got no answer: getData /cache",
			[]string{"drop-reply client=a op=getData request=2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(300) {
				o := fuzztest.Run(t, scenario.Scenario{
					Workload: tt.workload, Script: scenario.DefaultScript, Seed: seed,
					Plan: fuzztest.Plan(t, tt.plan...),
				})
				v, _ := o.Report.Verdict(tt.property)
				if v.Status == linearizability.Violated && strings.Contains(v.Summary, tt.says) {
					t.Logf("seed %d: %s", seed, v)
					return
				}
			}
			t.Errorf("%s never violated", tt.property)
		})
	}
}
