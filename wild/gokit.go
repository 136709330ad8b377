package main

import (
	"context"

	"github.com/go-kit/kit/sd"
	sdzk "github.com/go-kit/kit/sd/zk"
	"github.com/go-kit/log"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// goKitRegistry is the registry of go-kit's sd/zk. A znode's data is that of the instance: a=data.
func goKitRegistry() scenario.Workload {
	return object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		client := goKitClient(env, env.Path+"/service", show)
		return &goKit{client, env.Name, sdzk.Service{Path: env.Path, Name: "service"}}
	}, object.MembershipClaims{About: "sd/zk of go-kit", Instance: dataOf}).Named("go-kit")
}

// goKitInstancer is its discovery alone: the instances are registered by recipes.GroupMember.
func goKitInstancer() scenario.Workload {
	return object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		goKitClient(env, env.Path, show)
		return namedMember{builtin.Member(env), env.Name}
	}, object.MembershipClaims{
		About: "the Instancer of go-kit", Instance: dataOf,
	}).Named("go-kit-instancer")
}

// namedMember is a member with its name in the data of its znode.
type namedMember struct {
	object.Registrar
	name string
}

func (m namedMember) Join(ctx context.Context, data string) error {
	return m.Registrar.Join(ctx, m.name+"="+data)
}

// goKitClient shows the instances in a directory.
func goKitClient(env object.Env, dir string, show func(...string)) sdzk.Client {
	client, err := sdzk.NewClient([]string{env.Address}, log.NewNopLogger(),
		sdzk.SessionTimeout(scenario.SessionTimeout))
	check(err)
	instancer := insist(env, func() (*sdzk.Instancer, error) {
		return sdzk.NewInstancer(client, dir, log.NewNopLogger())
	})
	if instancer == nil { // the run has ended
		client.Stop()
		return client
	}
	events := make(chan sd.Event)
	go instancer.Register(events)
	context.AfterFunc(env.Context, func() {
		instancer.Deregister(events)
		close(events)
		instancer.Stop()
		client.Stop()
	})
	go func() {
		for e := range events {
			if e.Err == nil {
				show(e.Instances...)
			}
		}
	}()
	return client
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
