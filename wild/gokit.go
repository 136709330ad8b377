package main

import (
	"context"
	"strings"
	"sync"

	"github.com/go-kit/kit/sd"
	sdzk "github.com/go-kit/kit/sd/zk"
	"github.com/go-kit/log"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// goKitRegistry is the registry of go-kit's sd/zk. A znode's data is that of the instance: a=data.
func goKitRegistry() scenario.Workload {
	w := object.Membership(func(env object.Env) object.Roster {
		client, err := sdzk.NewClient([]string{env.Address}, log.NewNopLogger(),
			sdzk.SessionTimeout(scenario.SessionTimeout))
		check(err)
		context.AfterFunc(env.Context, client.Stop)
		return &goKit{client: client, dir: env.Path, name: env.Name}
	}, object.MembershipClaims{About: "sd/zk of go-kit", Instance: dataOf})
	return w.Named("go-kit")
}

// dataOf reads the data of a znode, such as a=data, as that of an instance.
func dataOf(_, znode string) (name, data string, ok bool) { return strings.Cut(znode, "=") }

type goKit struct {
	client    sdzk.Client
	dir, name string
	service   sdzk.Service
	mu        sync.Mutex
	last      sd.Event // of the instancer, which View makes
	listening bool
}

func (g *goKit) Join(_ context.Context, data string) error {
	g.service = sdzk.Service{Path: g.dir, Name: "service", Data: []byte(g.name + "=" + data)}
	return g.client.Register(&g.service)
}

func (g *goKit) Leave(context.Context) error { return g.client.Deregister(&g.service) }

func (g *goKit) View(context.Context) (string, error) {
	if !g.listening {
		instancer, err := sdzk.NewInstancer(g.client, g.dir+"/service", log.NewNopLogger())
		if err != nil {
			return "", err
		}
		events := make(chan sd.Event, 1)
		instancer.Register(events)
		g.last, g.listening = <-events, true
		go g.listen(events)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.last.Instances, ","), g.last.Err
}

func (g *goKit) listen(events <-chan sd.Event) {
	for e := range events {
		g.mu.Lock()
		g.last = e
		g.mu.Unlock()
	}
}
