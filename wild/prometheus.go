package main

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/discovery/zookeeper"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// prometheusDiscovery is the discovery of targets of Prometheus. The targets are members of
// recipes.Group, so that a wrong view is Prometheus's. After an error it reads again in 10 s.
func prometheusDiscovery() scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		d, err := zookeeper.NewDiscovery([]string{env.Address}, scenario.SessionTimeout,
			[]string{env.Path}, nil, func(_ []byte, p string) (model.LabelSet, error) {
				return model.LabelSet{"name": model.LabelValue(path.Base(p))}, nil
			})
		check(err)
		p := &prometheus{env: env, dir: env.Path, seen: map[string]bool{}}
		updates := make(chan []*targetgroup.Group)
		go d.Run(env.Context, updates)
		go p.listen(updates)
		return p
	}, object.MembershipClaims{About: "ZooKeeper discovery of Prometheus",
		Recheck: 10 * time.Second}).Named("prometheus")
}

type prometheus struct {
	env    object.Env
	dir    string
	member *recipes.GroupMember
	mu     sync.Mutex
	seen   map[string]bool // sources with targets
}

func (p *prometheus) Join(ctx context.Context, data string) error {
	if p.member == nil {
		p.member = recipes.NewGroupMember(p.env.Conn, p.dir, p.env.Name, []byte(data))
	}
	return p.member.Join(ctx)
}

func (p *prometheus) Leave(ctx context.Context) error {
	err := p.member.Close(ctx)
	if err == nil {
		p.member = nil
	}
	return err
}

func (p *prometheus) View(context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(p.seen)), ","), nil
}

func (p *prometheus) listen(updates <-chan []*targetgroup.Group) {
	for {
		select {
		case groups := <-updates:
			p.mu.Lock()
			for _, g := range groups {
				delete(p.seen, path.Base(g.Source))
				if len(g.Targets) > 0 && g.Source != p.dir {
					p.seen[path.Base(g.Source)] = true
				}
			}
			p.mu.Unlock()
		case <-p.env.Context.Done():
			return
		}
	}
}
