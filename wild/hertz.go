package main

import (
	"context"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/cloudwego/hertz/pkg/app/client/discovery"
	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/go-zookeeper/zk"
	"github.com/hertz-contrib/registry/zookeeper"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// hertzRegistry is the registry of hertz, with its resolver.
func hertzRegistry() scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		servers := []string{env.Address}
		r, err := zookeeper.NewZookeeperRegistry(servers, scenario.SessionTimeout)
		check(err)
		resolver, err := zookeeper.NewZookeeperResolver(servers, scenario.SessionTimeout)
		check(err)
		for _, part := range []any{r, resolver} { // neither has a Close
			conn := reflect.ValueOf(part).Elem().FieldByName("conn").UnsafePointer()
			context.AfterFunc(env.Context, (*zk.Conn)(conn).Close)
		}
		return &hertz{r, resolver, registry.Info{ServiceName: strings.TrimPrefix(env.Path, "/"),
			Addr: utils.NewNetAddr("tcp", env.Name+":80"), Weight: 1}}
	}, object.MembershipClaims{About: "the registry of hertz", Instance: hertzInstance}).Named("hertz")
}

// hertzLookups is the same, judged by the errors of its calls.
func hertzLookups() scenario.Workload {
	return failsOnlyWithItsConnection(hertzRegistry()).Named("hertz-lookups")
}

type hertz struct {
	registry registry.Registry
	resolver discovery.Resolver
	info     registry.Info
}

func (h *hertz) Join(_ context.Context, data string) error {
	h.info.Tags = map[string]string{"data": data}
	return h.registry.Register(&h.info)
}

func (h *hertz) Leave(context.Context) error { return h.registry.Deregister(&h.info) }

func (h *hertz) View(ctx context.Context) (string, error) {
	found, err := h.resolver.Resolve(ctx, h.info.ServiceName)
	var shown []string
	for _, i := range found.Instances {
		data, _ := i.Tag("data")
		shown = append(shown, strings.TrimSuffix(i.Address().String(), ":80")+"="+data)
	}
	slices.Sort(shown)
	return strings.Join(shown, ","), err
}

// hertzInstance is an instance, whose address is the name of its znode.
func hertzInstance(znode, data string) (name, value string, ok bool) {
	name, ok = strings.CutSuffix(path.Base(znode), ":80")
	var entity zookeeper.RegistryEntity
	if err := json.Unmarshal([]byte(data), &entity); err != nil {
		return "", "", false
	}
	return name, entity.Tags["data"], ok
}
