package builtin

import (
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// treeCache is the recommended cache.
func treeCache() scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		cache := recipes.NewTreeCache(env.Conn, env.Path, recipes.RecheckEvery(cacheRecheck))
		return started(cache, cache.Start, cache.Changes())
	}, object.CacheClaims{About: "the copy of a tree of package recipes", Levels: -1,
		Recheck: cacheRecheck}).Named("recipes.TreeCache")
}

func childrenCache() scenario.Workload {
	claims := object.CacheClaims{
		About:  "the copy of a directory's children of package recipes",
		Levels: 1, Rootless: true, Recheck: cacheRecheck,
	}
	return object.Cache(func(env object.Env) object.Cacher {
		cache := recipes.NewChildrenCache(env.Conn, env.Path, recipes.RecheckEvery(cacheRecheck))
		return started(cache, cache.Start, cache.Changes())
	}, claims).Named("recipes.ChildrenCache")
}

func nodeCache() scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		cache := recipes.NewNodeCache(env.Conn, env.Path, recipes.RecheckEvery(cacheRecheck))
		return started(cache, cache.Start, cache.Changes())
	}, object.CacheClaims{About: "the copy of one node of package recipes",
		Recheck: cacheRecheck}).Named("recipes.NodeCache")
}

// configCenter is the recommended configuration centre.
func configCenter() scenario.Workload {
	claims := object.ConfigClaims{
		About:   "the configuration centre of package recipes, read from a local copy",
		Records: "/config/writes", Recheck: cacheRecheck,
	}
	return object.Config(func(env object.Env) object.Configurer {
		config := recipes.NewConfigCenter(env.Conn, "/config", recipes.RecheckEvery(cacheRecheck))
		return &startedConfig{ConfigCenter: config,
			cache: started(config, config.Start, config.Changes())}
	}, claims).Named("recipes.ConfigCenter")
}

// started makes a cache of package recipes with a reader of its changes.
func started(cache object.Cacher, start func() error, changes *recipes.CacheChanges) *startedCache {
	return &startedCache{Cacher: cache, CacheChanges: changes, start: start}
}

type startedCache struct {
	object.Cacher
	*recipes.CacheChanges
	start func() error
}

// Ready starts the cache the first time.
func (c *startedCache) Ready(ctx context.Context) error {
	if start := c.start; start != nil {
		c.start = nil
		if err := start(); err != nil {
			return err
		}
	}
	return c.Cacher.Ready(ctx)
}

// Close closes the cache and not only the reader.
func (c *startedCache) Close(ctx context.Context) error { return c.Cacher.Close(ctx) }

// startedConfig is a configuration centre of package recipes with a reader of its changes.
type startedConfig struct {
	*recipes.ConfigCenter
	cache *startedCache
}

func (c *startedConfig) Ready(ctx context.Context) error { return c.cache.Ready(ctx) }

func (c *startedConfig) TryNext() (recipes.CacheEvent, bool) { return c.cache.TryNext() }

// cacheRecheck is the time after which the caches of package recipes read again in these workloads.
// They need it, because the go-zookeeper client can miss a change. It asks for events since the
// newest zxid of any reply. If it sends a request before it sets its watches again, gets the reply,
// and loses the connection once more, it does not ask for the events before that reply.
const cacheRecheck = 15 * time.Second
