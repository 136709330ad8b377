package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// takeToken takes a token from the bucket, if there is one. A careless one takes a lost reply for a
// lost request, and takes a second token.
func takeToken(conn *zk.Conn, careless bool) (bool, error) {
	for {
		data, stat, err := conn.Get("/bucket")
		if err != nil {
			return false, err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil || n == 0 {
			return false, err
		}
		_, err = conn.Set("/bucket", []byte(strconv.Itoa(n-1)), stat.Version)
		if errors.Is(err, zk.ErrBadVersion) || careless && errors.Is(err, zk.ErrConnectionClosed) {
			continue
		}
		return err == nil, err
	}
}

// bucket is a workload of a kind that zksim does not know: each client takes a token in each round.
func bucket(careless bool) scenario.Workload {
	return scenario.Workload{
		Name: "token bucket",
		Play: func(p *scenario.Player, s scenario.Script) {
			p.Persist(func(int) error {
				_, err := p.Conn().Create("/bucket", []byte("5"), 0, zk.WorldACL(zk.PermAll))
				if errors.Is(err, zk.ErrNodeExists) {
					return nil
				}
				return err
			})
			for range s.Rounds {
				// The call is recorded for the invariant. An error is part of the history.
				_ = p.Do("take", "", func(context.Context) (linearizability.Result, error) {
					taken, err := takeToken(p.Conn(), careless)
					return linearizability.Result{Output: fmt.Sprint(taken)}, err
				})
			}
		},
		Judge: scenario.Invariants(scenario.Invariant{
			Name: "each call spends one token at most", Holds: spendsNoMore,
		}),
	}
}

// spendsNoMore compares the changes at the server with the calls of the clients.
func spendsNoMore(e scenario.Evidence) error {
	spent, may := 0, 0
	for _, ev := range e.History.Server {
		if ev.Path == "/bucket" && ev.Kind == linearizability.DataChanged {
			spent++
		}
	}
	for _, op := range e.History.Ops {
		if op.Outcome != linearizability.OpOK || op.Output == "true" {
			may++
		}
	}
	if spent > may {
		return fmt.Errorf("%d tokens are gone, for at most %d calls", spent, may)
	}
	return nil
}

// A test of code that is no lock, no queue and no other known object: its clients, and what must
// hold in every run. The test plays it as it plays a lock; one of its scenarios is played here.
func ExampleTest_invariants() {
	test := func(t *testing.T) { fuzz.Test(t, bucket(true)) }
	_ = test // in a test file: func TestBucket(t *testing.T) { ... }

	lost, err := fault.Parse("drop-reply client=a op=setData request=1")
	if err != nil {
		panic(err)
	}
	for _, careless := range []bool{true, false} {
		o, err := scenario.Scenario{
			Workload: bucket(careless).Named("mine"), Seed: 1, Plan: []fault.Fault{lost},
			Script: scenario.Script{Clients: 1, Rounds: 1},
		}.Run()
		if err != nil {
			panic(err)
		}
		fmt.Printf("careless: %v, violated: %q\n", careless, o.Property())
		if careless {
			fmt.Println(o.Summary())
		}
	}
	// Output:
	// careless: true, violated: "invariant"
	// each call spends one token at most: 2 tokens are gone, for at most 1 calls
	// careless: false, violated: ""
}

// TestOfTheBucketFindsItsBug, and only there.
func TestOfTheBucketFindsItsBug(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "zksim.runs", "20")
	setScript(t, scenario.Script{Clients: 2, Rounds: 1})
	for _, careless := range []bool{true, false} {
		failed, text := tested("TestBucket", bucket(careless))
		found := strings.HasPrefix(text,
			"invariant is violated: each call spends one token at most")
		if failed != careless || found != careless {
			t.Errorf("careless: %v, failed: %v\n%s", careless, failed, text)
		}
	}
}
