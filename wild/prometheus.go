package main

import (
	"maps"
	"path"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/discovery/zookeeper"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// prometheusDiscovery is the discovery of targets of Prometheus. The targets are members of
// recipes.Group, so that a wrong view is Prometheus's. After an error it reads again in 10 s.
func prometheusDiscovery() scenario.Workload {
	return object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		d, err := zookeeper.NewDiscovery([]string{env.Address}, scenario.SessionTimeout,
			[]string{env.Path}, nil, func(data []byte, p string) (model.LabelSet, error) {
				return model.LabelSet{"is": model.LabelValue(path.Base(p) + "=" +
					string(data))}, nil
			})
		check(err)
		updates := make(chan []*targetgroup.Group)
		go d.Run(env.Context, updates)
		go func() {
			targets := map[string]string{} // by source
			for env.Context.Err() == nil {
				select {
				case groups := <-updates:
					for _, g := range groups {
						delete(targets, g.Source)
						if len(g.Targets) > 0 && g.Source != env.Path {
							targets[g.Source] = string(g.Targets[0]["is"])
						}
					}
					show(slices.Collect(maps.Values(targets))...)
				case <-env.Context.Done():
				}
			}
		}()
		return builtin.Member(env)
	}, object.MembershipClaims{About: "ZooKeeper discovery of Prometheus", Instance: named,
		Recheck: 10 * time.Second}).Named("prometheus")
}

// named is the instance of a znode that is named after it.
func named(p, znode string) (name, data string, ok bool) { return path.Base(p), znode, true }
