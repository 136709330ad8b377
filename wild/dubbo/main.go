// Command dubbo hunts in the ZooKeeper registry of dubbo-go, as module wild does in other
// libraries. It is a module of its own, for wild plays an older version of gost:
//
//	zksim go run -C wild/dubbo . fuzz membership --impl dubbo-go
package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"sync/atomic"

	"dubbo.apache.org/dubbo-go/v3/common"
	"dubbo.apache.org/dubbo-go/v3/common/constant"
	"dubbo.apache.org/dubbo-go/v3/common/extension"
	"dubbo.apache.org/dubbo-go/v3/registry"
	_ "dubbo.apache.org/dubbo-go/v3/registry/zookeeper"
	"dubbo.apache.org/dubbo-go/v3/remoting"
	"github.com/dubbogo/gost/log/logger"
	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

func main() { cli.Main(dubboRegistry()) }

const service = "zksim.Members"

// dubboRegistry registers a provider and subscribes to all, as a server that is a client, too.
func dubboRegistry() scenario.Workload {
	logger.SetLoggerLevel("fatal")
	return object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
		return &provider{subscribe(env, show), env.Name, nil}
	}, object.MembershipClaims{About: "the registry of dubbo-go",
		Path: "/dubbo/" + service + "/providers", Instance: instance}).Named("dubbo-go")
}

// pool makes the addresses differ: dubbo-go has one connection for all registries of an address.
var pool atomic.Int64

// subscribe opens a registry and shows the providers.
func subscribe(env object.Env, show func(...string)) registry.Registry {
	address := env.Address
	if sim.Overlaid { // any address works
		address = fmt.Sprintf("zk%d:2181", pool.Add(1))
	}
	at, err := common.NewURL("registry://"+address,
		common.WithParamsValue(constant.ConfigTimeoutKey, scenario.SessionTimeout.String()))
	must(err)
	r, err := extension.GetRegistry("zookeeper", at)
	must(err)
	consumer, err := common.NewURL("consumer://127.0.0.1/" + service)
	must(err)
	go func() { _ = r.Subscribe(consumer, &directory{map[string]string{}, show}) }()
	context.AfterFunc(env.Context, r.Destroy)
	return r
}

// directory is what the events leave, by name.
type directory struct {
	instances map[string]string
	show      func(...string)
}

func (d *directory) Notify(e *registry.ServiceEvent) {
	if name := e.Service.Ip; e.Action == remoting.EventTypeDel {
		delete(d.instances, name)
	} else {
		d.instances[name] = name + "=" + e.Service.GetParam("data", "")
	}
	d.show(slices.Collect(maps.Values(d.instances))...)
}

func (d *directory) NotifyAll(events []*registry.ServiceEvent, done func()) {
	for _, e := range events {
		d.Notify(e)
	}
	done()
}

// provider is a service of one client.
type provider struct {
	registry.Registry
	name string
	url  *common.URL
}

func (p *provider) Join(_ context.Context, data string) (err error) {
	p.url, err = common.NewURL("dubbo://"+p.name+":20880/"+service,
		common.WithParamsValue(constant.RegistryRoleKey, strconv.Itoa(common.PROVIDER)),
		common.WithParamsValue("data", data), common.WithMethods([]string{"Get"}))
	if err != nil {
		return err
	}
	return p.Register(p.url)
}

func (p *provider) Leave(context.Context) error { return p.UnRegister(p.url) }

// instance is a provider, whose znode has its URL as a name.
func instance(p, _ string) (name, data string, ok bool) {
	raw, err := url.QueryUnescape(path.Base(p))
	if err != nil {
		return "", "", false
	}
	u, err := common.NewURL(raw)
	if err != nil || u.Protocol != "dubbo" {
		return "", "", false
	}
	return u.Ip, u.GetParam("data", ""), true
}

// must ends the script at the error of an address that is refused.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
