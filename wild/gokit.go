package main

import (
	"context"

	"github.com/go-kit/kit/sd"
	sdzk "github.com/go-kit/kit/sd/zk"
	"github.com/go-kit/log"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// goKitRegistry is the registry of go-kit's sd/zk. A znode's data is that of the instance: a=data.
func goKitRegistry() scenario.Workload {
	return object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		client, err := sdzk.NewClient([]string{env.Address}, log.NewNopLogger(),
			sdzk.SessionTimeout(scenario.SessionTimeout))
		check(err)
		context.AfterFunc(env.Context, client.Stop)
		instancer := insist(env, func() (*sdzk.Instancer, error) {
			return sdzk.NewInstancer(client, env.Path+"/service", log.NewNopLogger())
		})
		events := make(chan sd.Event)
		go instancer.Register(events)
		go func() {
			for e := range events {
				if e.Err == nil {
					show(e.Instances...)
				}
			}
		}()
		return &goKit{client, env.Name, sdzk.Service{Path: env.Path, Name: "service"}}
	}, object.MembershipClaims{About: "sd/zk of go-kit", Instance: dataOf}).Named("go-kit")
}

type goKit struct {
	client  sdzk.Client
	name    string
	service sdzk.Service
}

func (g *goKit) Join(_ context.Context, data string) error {
	g.service.Data = []byte(g.name + "=" + data)
	return g.client.Register(&g.service)
}

func (g *goKit) Leave(context.Context) error { return g.client.Deregister(&g.service) }
