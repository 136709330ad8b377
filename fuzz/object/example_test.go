package object_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// racyCounter is a counter with a bug: its write ignores the version that it read.
type racyCounter struct {
	conn *zk.Conn
	path string
}

func (c racyCounter) Add(_ context.Context, delta int64) (int64, error) {
	data, _, err := c.conn.Get(c.path)
	if errors.Is(err, zk.ErrNoNode) {
		sum := strconv.FormatInt(delta, 10)
		_, err = c.conn.Create(c.path, []byte(sum), 0, zk.WorldACL(zk.PermAll))
		return delta, err
	}
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, err
	}
	_, err = c.conn.Set(c.path, []byte(strconv.FormatInt(value+delta, 10)), -1)
	return value + delta, err
}

// Two clients lose an addition when they read the same value. No fault is needed.
func Example() {
	w := object.Counter(func(env object.Env) object.Counterer {
		return racyCounter{env.Conn, env.Path}
	}).Named("mine")
	script := scenario.Script{Clients: 3, Rounds: 2}
	o, err := scenario.Scenario{Workload: w, Script: script, Seed: 1}.Run()
	if err != nil {
		panic(err)
	}
	fmt.Println(o.Status(), o.Property())
	// Output: violated linearizability
}

// A lock of one's own as a workload. This one forgets its node when the reply to
// its create is lost; then it waits for itself.
func ExampleLock() {
	w := object.Lock(func(env object.Env) object.Locker {
		return &forgetfulLock{conn: env.Conn}
	}, object.LockClaims{About: "waits until nobody is there"}).Named("mine")
	f, err := fault.Parse("drop-reply client=a op=create path=/lock/* request=1")
	if err != nil {
		panic(err)
	}
	o, err := scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
		Plan: []fault.Fault{f},
	}.Run()
	if err != nil {
		panic(err)
	}
	fmt.Println(o.Status(), o.Property(), len(o.Result.Missed))
	// Output: violated liveness 0
}

// forgetfulLock waits until nobody is there and then makes its node.
type forgetfulLock struct {
	conn *zk.Conn
	node string
}

func (l *forgetfulLock) Lock(ctx context.Context) error {
	if _, err := l.conn.Create("/lock", nil, 0, zk.WorldACL(zk.PermAll)); err != nil &&
		err != zk.ErrNodeExists {
		return err
	}
	for {
		holders, _, changed, err := l.conn.ChildrenW("/lock")
		if err != nil {
			return err
		}
		if len(holders) == 0 {
			l.node, err = l.conn.Create("/lock/holder-", nil, zk.FlagEphemeral|zk.FlagSequence,
				zk.WorldACL(zk.PermAll))
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *forgetfulLock) Unlock(context.Context) error { return l.conn.Delete(l.node, -1) }
