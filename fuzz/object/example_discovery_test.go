package object_test

import (
	"fmt"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// A watcher that stops after an error shows an old view for ever.
func ExampleDiscovery() {
	w := object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		_, err := env.Conn.Create(env.Path, nil, 0, zk.WorldACL(zk.PermAll))
		go func() {
			for err == nil || err == zk.ErrNodeExists {
				var names []string
				var changed <-chan zk.Event
				if names, _, changed, err = env.Conn.ChildrenW(env.Path); err == nil {
					show(names...)
					<-changed
				}
			}
		}()
		return builtin.Member(env)
	})
	f, err := fault.Parse("drop-request client=a op=getChildren2 request=2")
	if err != nil {
		panic(err)
	}
	for _, plan := range [][]fault.Fault{nil, {f}} {
		o, err := scenario.Scenario{Workload: w, Plan: plan, Seed: 1,
			Script: scenario.Script{Clients: 1, Rounds: 1}}.Run()
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s %q\n", o.Status(), o.Property())
	}
	// Output:
	// ok ""
	// violated "answers"
}
