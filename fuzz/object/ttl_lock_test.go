package object_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

const lockTTL = 6 * time.Second

// ttlLock is a lock whose znode is made with a TTL and renewed while it is held.
type ttlLock struct {
	conn *zk.Conn
	path string
	name string
	flaw string
	id   string // of the present attempt

	token int64
	stop  context.CancelFunc
	lost  chan struct{}
}

func (l *ttlLock) node() string { return l.path + "/holder" }

func (l *ttlLock) Lock(ctx context.Context) error {
	_, err := l.conn.Create(l.path, nil, 0, zk.WorldACL(zk.PermAll))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	l.id = fmt.Sprint(l.name, rand.Text())
	for ctx.Err() == nil {
		asked := time.Now()
		_, err := l.conn.CreateTTL(l.node(), []byte(l.id), zk.FlagTTL,
			zk.WorldACL(zk.PermAll), lockTTL)
		if err == nil || errors.Is(err, zk.ErrNodeExists) {
			data, stat, gone, err := l.conn.GetW(l.node())
			if err == nil && string(data) == l.id {
				if _, err := l.conn.Set(l.node(), data, stat.Version); err == nil {
					l.token = stat.Czxid
					l.begin(asked, stat.Version+1)
					return nil
				}
				continue
			}
			if err == nil {
				select {
				case <-gone:
				case <-ctx.Done():
				}
				continue
			}
			if errors.Is(err, zk.ErrNoNode) {
				continue
			}
			return err
		}
		return err
	}
	return ctx.Err()
}

func (l *ttlLock) begin(asked time.Time, version int32) {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.lost = make(chan struct{})
	lost := l.lost
	renewed := make(chan time.Time)
	go func() {
		for ctx.Err() == nil {
			at := time.Now()
			stat, err := l.renew(version)
			if err == nil {
				version = stat.Version
				select {
				case renewed <- at:
				case <-ctx.Done():
				}
			}
			select {
			case <-time.After(lockTTL / 6):
			case <-ctx.Done():
			}
		}
	}()
	go func() {
		for {
			select {
			case at := <-renewed:
				asked = at
			case <-time.After(time.Until(asked.Add(lockTTL * 9 / 10))):
				close(lost)
				stop()
				return
			case <-ctx.Done():
				return
			}
		}
	}()
}

func (l *ttlLock) renew(version int32) (*zk.Stat, error) {
	if l.flaw == "never renews" {
		return &zk.Stat{}, nil
	}
	return l.conn.Set(l.node(), []byte(l.id), version)
}

func (l *ttlLock) Lost() <-chan struct{} { return l.lost }
func (l *ttlLock) Token() int64          { return l.token }

func (l *ttlLock) Unlock(context.Context) error {
	l.stop()
	data, stat, err := l.conn.Get(l.node())
	if errors.Is(err, zk.ErrNoNode) ||
		err == nil && (string(data) != l.id || stat.Czxid != l.token) {
		return nil
	}
	if err != nil {
		return err
	}
	err = l.conn.Delete(l.node(), stat.Version)
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) {
		return nil
	}
	return err
}

// TestALockOnTTLNodesWithoutTheClaimIsRefused in words: the judge takes its znodes for nothing.
func TestALockOnTTLNodesWithoutTheClaimIsRefused(t *testing.T) {
	w := object.Lock(func(env object.Env) object.Locker {
		return &ttlLock{conn: env.Conn, path: env.Path, name: env.Name}
	})
	_, err := scenario.Scenario{Workload: w.Named("on TTL nodes"), Seed: 1,
		Script: scenario.Script{Clients: 2, Rounds: 1}}.Run()
	check.Contains(t, fmt.Sprint(err), "/lock/holder is made with a TTL, and the lock has no "+
		"ephemerals: if it is held by TTL nodes, set TTL of its claims")
}

// TestRunsWithTTLNodesAreLonger, of each kind of lock: the server takes a node only after its time.
func TestRunsWithTTLNodesAreLonger(t *testing.T) {
	workloads := func(c object.LockClaims) []scenario.Workload {
		return []scenario.Workload{
			object.Lock(nil, c), object.Election(nil, c), object.MultiLock(nil, c),
			object.Reentrant(nil, c), object.Revocable(nil, c), object.RWLock(nil, c),
			object.Semaphore(nil, object.SemaphoreClaims{LockClaims: c}),
		}
	}
	long := workloads(object.LockClaims{TTL: lockTTL})
	script := scenario.Script{Clients: 2, Rounds: 2}
	for i, w := range workloads(object.LockClaims{}) {
		check.Equal(t, long[i].Length(script), w.Length(script)+2*(lockTTL+time.Minute), w.Name)
	}
}

// TestLocksOnTTLNodes: a right one is not accused, with a signal of loss or without. One that never
// renews is found.
func TestLocksOnTTLNodes(t *testing.T) {
	runs := 150
	if testrun.Full() {
		runs = 3000
	}
	for _, c := range []struct{ flaw, want string }{
		{"", ""},
		{"no signal", ""},
		{"never renews", `the server \(its TTL was over, though [abc]'* could write to it\) deleted ` +
			`[abc]'*'s znode /lock/holder|own the lock at once|both believe`},
	} {
		w := object.Lock(func(env object.Env) object.Locker {
			l := &ttlLock{conn: env.Conn, path: env.Path, name: env.Name, flaw: c.flaw}
			if c.flaw == "no signal" {
				return struct{ object.Locker }{l}
			}
			return l
		}, object.LockClaims{TTL: lockTTL})
		found, err := hunt.Hunt{Workload: w.Named(c.flaw), Seed: 1, Runs: runs,
			Script: scenario.Script{Clients: 2, Rounds: 2}}.Run(t.Context())
		check.OK(t, err)
		got := ""
		if found.First() != nil {
			got = found.First().Summary()
		}
		if c.want == "" && got != "" || !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%q: found %q; want %q", c.flaw, got, c.want)
		}
	}
}
