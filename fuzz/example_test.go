package fuzz_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// The connection is reset while the client's own lock lists its waiters. Lock
// returns the error and forgets its node, which the session keeps alive: the
// next Lock waits for it for ever.
func ExampleScenario_Run() {
	w, err := object.Find("lock", "zk.Lock")
	if err != nil {
		panic(err)
	}
	f, err := fault.Parse("drop-request client=a op=getChildren2 request=1")
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
	fmt.Println(o.Status(), o.Property())
	// Output: violated liveness
}

func ExampleRunSweep() {
	w, err := object.Find("lock", "recipes.Lock")
	if err != nil {
		panic(err)
	}
	s := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1}
	sweep, err := hunt.RunSweep(context.Background(), s, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("survived all:", sweep.Points > 0 && sweep.Survived == sweep.Points)
	// Output: survived all: true
}

// A scenario file is a test: it says what must come out.
func ExampleParse_scenario() {
	file, err := scenario.Parse("lost.yaml", []byte(`
workload: queue
implementation: recipes.ApacheQueue
clients: 1
rounds: 1
seed: 1
plan:
  - drop-reply client=a op=delete request=1
expect: violated
property: delivery
`), object.Find)
	if err != nil {
		panic(err)
	}
	replay, err := file.Check(false)
	if err != nil {
		panic(err)
	}
	fmt.Println(replay.Outcome.Property(), "is violated; problems:", len(replay.Problems))

	_, err = scenario.Parse("bad.yaml", []byte("workload: queue\nclients: many\n"), object.Find)
	fmt.Println(err)
	// Output:
	// delivery is violated; problems: 0
	// bad.yaml:2:10: clients: found text; expected a whole number
}

// A lock of one's own as a workload. This one forgets its node when the reply to
// its create is lost; then it waits for itself.
func Example() {
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

// A test of one's own lock: open makes it on a connection.
func ExampleTest() {
	test := func(t *testing.T) {
		fuzz.Test(t, object.Lock(func(env object.Env) object.Locker {
			return recipes.NewLock(env.Conn, "/lock")
		}, object.LockClaims{Fair: true, MaxHerd: 1}))
	}
	_ = test // in a file of one's own: func TestMyLock(t *testing.T) { ... }
}
