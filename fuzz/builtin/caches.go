package builtin

import (
	"context"
	"sync"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// treeCache is the recommended cache.
func treeCache() scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		return newCache(recipes.NewTreeCache(env.Conn, env.Path, recipes.RecheckEvery(Recheck)))
	}, object.CacheClaims{About: "the copy of a tree of package recipes", Levels: -1,
		Recheck: Recheck}).Named("recipes.TreeCache")
}

func childrenCache() scenario.Workload {
	claims := object.CacheClaims{
		About:  "the copy of a directory's children of package recipes",
		Levels: 1, Rootless: true, Recheck: Recheck,
	}
	return object.Cache(func(env object.Env) object.Cacher {
		return newCache(recipes.NewChildrenCache(env.Conn, env.Path, recipes.RecheckEvery(Recheck)))
	}, claims).Named("recipes.ChildrenCache")
}

func nodeCache() scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		return newCache(recipes.NewNodeCache(env.Conn, env.Path, recipes.RecheckEvery(Recheck)))
	}, object.CacheClaims{About: "the copy of one node of package recipes",
		Recheck: Recheck}).Named("recipes.NodeCache")
}

// configCenter is the recommended configuration centre.
func configCenter() scenario.Workload {
	claims := object.ConfigClaims{
		About:   "the configuration centre of package recipes, read from a local copy",
		Records: configPath + "/writes", Recheck: Recheck,
	}
	return object.Config(func(env object.Env) object.Configurer {
		c := NewConfigCenter(env)
		return struct {
			*ConfigCenter
			events
		}{c, events{c.Changes()}}
	}, claims).Named("recipes.ConfigCenter")
}

// cacher is what the caches of package recipes have in common.
type cacher interface {
	Start() error
	Ready(ctx context.Context) error
	Nodes() []recipes.CachedNode
	Stale() bool
	Changes() *recipes.CacheChanges
	Close(ctx context.Context) error
}

// cache is a cache of package recipes, with its events.
type cache struct {
	cacher
	events
	start func() error // once
}

func newCache(c cacher) cache {
	return cache{c, events{c.Changes()}, sync.OnceValue(c.Start)}
}

// Ready starts the cache the first time.
func (c cache) Ready(ctx context.Context) error {
	if err := c.start(); err != nil {
		return err
	}
	return c.cacher.Ready(ctx)
}

func (c cache) Nodes() []object.CachedNode { return cachedNodes(c.cacher.Nodes()) }

func cachedNodes(list []recipes.CachedNode) (nodes []object.CachedNode) {
	for _, n := range list {
		nodes = append(nodes, cachedNode(n))
	}
	return nodes
}

func cachedNode(n recipes.CachedNode) object.CachedNode {
	return object.CachedNode{Path: n.Path, Data: n.Data, Zxid: n.Stat.Mzxid}
}

// events are the changes of a cache of package recipes.
type events struct{ changes *recipes.CacheChanges }

// TryNext returns the next change of a node.
func (e events) TryNext() (object.CacheEvent, bool) {
	for {
		ev, ok := e.changes.TryNext()
		if ev.Kind != recipes.CacheReady {
			return object.CacheEvent{
				Kind: object.CacheEventKind(ev.Kind.String()), Node: cachedNode(ev.Node),
			}, ok
		}
	}
}

// ConfigCenter is a configuration centre of package recipes, without its events.
type ConfigCenter struct {
	*recipes.ConfigCenter
	start func() error // once
}

// NewConfigCenter makes a configuration centre of package recipes. Ready starts it.
func NewConfigCenter(env object.Env) *ConfigCenter {
	c := recipes.NewConfigCenter(env.Conn, configPath, recipes.RecheckEvery(Recheck))
	return &ConfigCenter{c, sync.OnceValue(c.Start)}
}

// Ready starts the configuration centre the first time.
func (c *ConfigCenter) Ready(ctx context.Context) error {
	if err := c.start(); err != nil {
		return err
	}
	return c.ConfigCenter.Ready(ctx)
}

// Nodes returns the settings as nodes of a cache.
func (c *ConfigCenter) Nodes() []object.CachedNode { return cachedNodes(c.ConfigCenter.Nodes()) }

// Get returns a setting in the cache.
func (c *ConfigCenter) Get(key string) object.ValueState {
	return stateOf(c.ConfigCenter.Get(key))
}

// Fetch returns a setting at the server.
func (c *ConfigCenter) Fetch(ctx context.Context, key string) (object.ValueState, error) {
	entry, there, err := c.ConfigCenter.Fetch(ctx, key)
	return stateOf(entry, there), err
}

func stateOf(e recipes.ConfigEntry, there bool) object.ValueState {
	return object.ValueState{Data: e.Value, Exists: there, Version: e.Version}
}

// Recheck is the time after which the caches of package recipes read again in these workloads.
// They need it, because the go-zookeeper client can miss a change. It asks for events since the
// newest zxid of any reply. If it sends a request before it sets its watches again, gets the reply,
// and loses the connection once more, it does not ask for the events before that reply.
const Recheck = 15 * time.Second

// configPath is the directory of a configuration centre. The settings are in its directory keys.
const configPath = "/config"
