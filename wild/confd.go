package main

import (
	"path"
	"time"

	"github.com/kelseyhightower/confd/backends/zookeeper"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// confdWatch is a template of confd, which is made anew after each change of a directory, as by its
// watchProcessor with -watch. The nodes are those of recipes.GroupMember.
func confdWatch() scenario.Workload {
	w := object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		client, err := zookeeper.NewZookeeperClient([]string{env.Address})
		check(err)
		stop := make(chan bool)
		go func() {
			<-env.Context.Done()
			close(stop)
		}()
		go func() {
			keys := []string{env.Path}
			for last := uint64(0); env.Context.Err() == nil; {
				index, err := client.WatchPrefix(env.Path, keys, last, stop)
				if err != nil {
					time.Sleep(2 * time.Second)
					continue
				}
				last = index
				values, err := client.GetValues(keys)
				if err != nil {
					continue
				}
				var shown []string
				for key, value := range values {
					if key != env.Path { // else it has no children
						shown = append(shown, path.Base(key)+"="+value)
					}
				}
				show(shown...)
			}
		}()
		return builtin.Member(env)
	}, object.MembershipClaims{About: "a template of confd", Instance: named}).Named("confd")
	w.Freeze = 2 * time.Second
	return w
}
