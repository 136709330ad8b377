package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	gost "github.com/dubbogo/gost/database/kv/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// gostRegistry is the ZooKeeper client of gost, with which Dubbo registers providers.
func gostRegistry() scenario.Workload {
	w := object.Membership(func(env object.Env) object.Roster {
		client, err := gost.NewZookeeperClient(env.Name, []string{env.Address}, false,
			gost.WithZkTimeOut(scenario.SessionTimeout))
		check(err)
		context.AfterFunc(env.Context, client.Close)
		return &gostRoster{client: client, dir: env.Path, name: env.Name}
	}, object.MembershipClaims{About: "database/kv/zk of gost", Instance: dataOf}).Named("gost")
	w.Freeze = 2 * time.Second
	return w
}

type gostRoster struct {
	client          *gost.ZookeeperClient
	dir, name, node string
}

func (g *gostRoster) Join(_ context.Context, data string) (err error) {
	if err = g.client.Create(g.dir); err == nil {
		g.node, err = g.client.RegisterTempSeq(g.dir, []byte(g.name+"="+data))
	}
	return err
}

func (g *gostRoster) Leave(context.Context) error { return g.client.Delete(g.node) }

func (g *gostRoster) View(context.Context) (string, error) {
	names, err := g.client.GetChildren(g.dir)
	if errors.Is(err, gost.ErrNilChildren) {
		return "", nil
	}
	var all []string
	for _, name := range names {
		data, _, e := g.client.GetContent(g.dir + "/" + name)
		all, err = append(all, string(data)), errors.Join(err, e)
	}
	slices.Sort(all)
	return strings.Join(all, ","), err
}
