package scenario_test

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
)

// raise is the script of a client that creates a znode until the create succeeds. It has a bug:
// after a lost reply the znode exists, and no create can succeed.
func raise(p *scenario.Player, _ scenario.Script) {
	p.Persist(func(int) error {
		return p.Call("raise", "", func(context.Context) error {
			_, err := p.Conn().Create("/flag", nil, 0, zk.WorldACL(zk.PermAll))
			return err
		})
	})
}

// An object of another kind needs a script and a judge.
func Example() {
	flag := scenario.Workload{
		Name: "flag", Impl: "mine", Play: raise, Judge: scenario.Invariants(),
	}
	lost, err := fault.Parse("drop-reply client=a op=create request=1")
	if err != nil {
		panic(err)
	}
	for _, plan := range [][]fault.Fault{nil, {lost}} {
		script := scenario.Script{Clients: 1, Rounds: 1}
		o, err := scenario.Scenario{Workload: flag, Script: script, Seed: 1, Plan: plan}.Run()
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d faults: violated %q\n", len(plan), o.Property())
	}
	// Output:
	// 0 faults: violated ""
	// 1 faults: violated "liveness"
}

// The connection is reset while the lock of the client library lists its waiters. Lock returns the
// error and forgets its node, which the session keeps alive: the next Lock waits for that node for
// ever.
func ExampleScenario_Run() {
	w, err := builtin.Find("lock", "zk.Lock")
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
