package gallery

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var plantedCaches = []Exhibit{
	{
		Title: "watches once", Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
				node, change, err := m.readAndWatch()
				if m.of != 0 {
					change = nil
				}
				return node, change, err
			}
		}),
	},
	{
		Title: "calls each event an update", Property: linearizability.Delivery,
		Wrong: tellingOf(func(e recipes.CacheEvent) (recipes.CacheEvent, bool) {
			if e.Kind == recipes.NodeAdded {
				e.Kind = recipes.NodeUpdated
			}
			return e, true
		}),
	},
	{
		Title: "tells of no removal", Property: linearizability.Delivery,
		Wrong: tellingOf(func(e recipes.CacheEvent) (recipes.CacheEvent, bool) {
			return e, e.Kind != recipes.NodeRemoved
		}),
	},
	{
		Title: "is never ready without the node", Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.arrives = func(read recipes.CachedNode) bool { return read.Path != "" }
		}),
	},
	{
		Title: "goes back every other time", Property: linearizability.View,
		Wrong: mirrorOf(func(m *mirror) {
			looks, old := 0, recipes.CachedNode{}
			m.isNew = func(now, _ recipes.CachedNode) bool {
				old = now
				return true
			}
			m.shown = func() []recipes.CachedNode {
				if looks++; old.Path != "" && looks%2 == 0 {
					return []recipes.CachedNode{old}
				}
				return m.copied()
			}
		}),
	},
	{
		Title: "shows what nobody has written", Property: linearizability.View,
		Wrong: mirrorOf(func(m *mirror) {
			m.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
				node, change, err := m.readAndWatch()
				if node.Path != "" && node.Stat.Version == 1 {
					node.Data = append(node.Data, '!')
				}
				return node, change, err
			}
		}),
	},
}

// telling is a mirror that tells of its changes.
type telling struct{ *mirror }

// tellingOf is a workload of a cache with events, which edit changes or leaves out; nil
// for what is right.
func tellingOf(edit func(recipes.CacheEvent) (recipes.CacheEvent, bool)) scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		return telling{openMirror(env.Conn, func(m *mirror) { m.edit = edit })}
	}).Named("")
}

// tell adds an event for the step from one state of the node to the next.
func (m *mirror) tell(before, now recipes.CachedNode) {
	e := recipes.CacheEvent{Kind: recipes.NodeUpdated, Node: now}
	switch {
	case now.Path == before.Path && now.Stat.Mzxid == before.Stat.Mzxid:
		return
	case now.Path == "":
		e = recipes.CacheEvent{Kind: recipes.NodeRemoved, Node: before}
	case before.Path == "":
		e.Kind = recipes.NodeAdded
	}
	told := true
	if m.edit != nil {
		e, told = m.edit(e)
	}
	if told {
		m.events = append(m.events, e)
	}
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
