package gallery

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var plantedCaches = []Exhibit{
	{Title: "watches once", Property: liveness, Wrong: cacheOf(func(c *plainCache) {
		c.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
			node, change, err := c.readAndWatch()
			if c.of != 0 {
				change = nil
			}
			return node, change, err
		}
	})},
	{Title: "calls each event an update", Property: delivery, Wrong: tellingOf(func(c *plainCache) {
		c.edit = func(e recipes.CacheEvent) (recipes.CacheEvent, bool) {
			if e.Kind == recipes.NodeAdded {
				e.Kind = recipes.NodeUpdated
			}
			return e, true
		}
	})},
	{Title: "tells of no removal", Property: delivery, Wrong: tellingOf(func(c *plainCache) {
		c.edit = func(e recipes.CacheEvent) (recipes.CacheEvent, bool) {
			return e, e.Kind != recipes.NodeRemoved
		}
	})},
	{Title: "is never ready without the node", Property: liveness, Wrong: cacheOf(func(c *plainCache) {
		c.arrives = func(read recipes.CachedNode) bool { return read.Path != "" }
	})},
	{Title: "goes back every other time", Property: view, Wrong: cacheOf(func(c *plainCache) {
		looks, old := 0, recipes.CachedNode{}
		c.isNew = func(now, _ recipes.CachedNode) bool {
			old = now
			return true
		}
		c.shown = func() []recipes.CachedNode {
			if looks++; old.Path != "" && looks%2 == 0 {
				return []recipes.CachedNode{old}
			}
			return c.copied()
		}
	})},
	{Title: "shows what nobody has written", Property: view, Wrong: cacheOf(func(c *plainCache) {
		c.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
			node, change, err := c.readAndWatch()
			if node.Path != "" && node.Stat.Version == 1 {
				node.Data = append(node.Data, '!')
			}
			return node, change, err
		}
	})},
}

// telling is a plain cache that tells its changes.
type telling struct{ *plainCache }

// tellingOf is a workload of a cache with events, with some steps replaced.
func tellingOf(steps ...func(*plainCache)) scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		return telling{startCache(env.Conn, steps...)}
	})
}

func (t telling) TryNext() (recipes.CacheEvent, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) == 0 {
		return recipes.CacheEvent{}, false
	}
	e := t.events[0]
	t.events = t.events[1:]
	return e, true
}
