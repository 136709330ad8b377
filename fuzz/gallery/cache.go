package gallery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedCache = []Exhibit{
	{Slug: "same-version-other-node", Alias: "B68", Title: "another node of the same version",
		Source: Report, Link: "https://github.com/apache/curator/issues/911", See: []string{"S4-8"},
		Bug: "A cache takes the same version for the same data. A node that is deleted and made " +
			"again while it looks elsewhere begins at 0 as the one before did: the cache keeps " +
			"the old data.",
		Property: liveness, Wrong: cacheOf(func(c *plainCache) {
			c.isNew = func(now, read cached) bool {
				// wrong: versions begin anew
				return now.Path != read.Path || now.version != read.version
			}
		}), Right: cacheOf()},
	{Slug: "deleted-not-watched-again", Alias: "B74",
		Title:  "a deleted node is not watched any more",
		Source: Report, Link: "https://github.com/python-zk/kazoo/issues/58",
		Bug: "The node is read again at each event of its watch. When it is deleted there is " +
			"nothing to read, and no watch is left by a read of nothing: a node that is made in " +
			"its place is not seen.",
		Property: liveness, Wrong: cacheOf(func(c *plainCache) {
			c.read = func() (cached, <-chan zk.Event, error) {
				if c.now.Path == "" {
					return c.readAndWatch() // until it is there
				}
				data, stat, change, err := c.conn.GetW(cachePath)
				if err != nil {
					return cached{}, nil, ignore(err, zk.ErrNoNode) // wrong: it may come back
				}
				return nodeOf(data, stat), change, nil
			}
		}), Right: cacheOf()},
	{Slug: "read-before-loaded", Alias: "S4-5", Title: "asked before it has read",
		Source: Report, Link: "https://github.com/apache/druid/issues/541",
		Bug: "The cache is started in the background, and asked at once. It has read nothing " +
			"yet, and answers that there is nothing: a setting that has been there for years " +
			"counts as missing.",
		Property: invariant,
		// wrong: it has read nothing
		Wrong: settingOf(func(*plainCache, context.Context) error { return nil }),
		Right: settingOf((*plainCache).Ready)},
	{Slug: "copy-never-stale", Alias: "S4-6", Title: "a copy that does not know how old it is",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperProgrammers.md#things-to-remember-about-watches",
		Bug: "While there is no connection the copy stays as it was, and does not say that it " +
			"may be old. Its callers cannot tell the present state from an earlier one.",
		Property: belief, Wrong: cacheOf(func(c *plainCache) {
			c.stale = func() bool { return false } // wrong: it may be cut off
		}), Right: cacheOf()},
	{Slug: "rewatched-without-rereading", Alias: "S4-7",
		Title:  "the watch is set again, and nothing read",
		Source: Report, Link: "https://github.com/naver/arcus-c-client/issues/53",
		See: []string{"kazoo pull request 391", "kvtools/zookeeper", "docker/libkv",
			"go-kratos/kratos"},
		Bug: "After the end of a session the watch is set again in the next one. A change " +
			"between the two has no event, and the copy stays as it was.",
		Property: liveness, Wrong: cacheOf(func(c *plainCache) {
			// wrong: the node may have changed
			c.isNew = func(_, _ cached) bool { return !c.session }
		}), Right: cacheOf()},
	{Slug: "read-then-watched", Alias: "S4-9", Title: "read first, watched a moment later",
		Source: Report, Link: "https://github.com/librato/watchconf/pull/5",
		See: []string{"docker/libkv"},
		Bug: "The node is read, and then watched by another request, with an answer that the " +
			"cache drops. A change between the two is in neither.",
		Property: liveness, Wrong: cacheOf(func(c *plainCache) {
			c.read = func() (cached, <-chan zk.Event, error) {
				data, stat, err := c.conn.Get(cachePath)
				if err != nil {
					return c.readAndWatch()
				}
				_, _, change, err := c.conn.ExistsW(cachePath) // wrong: its answer is newer
				return nodeOf(data, stat), change, err
			}
		}), Right: cacheOf()},
}

var plantedCaches = []Exhibit{
	planted("watches once", liveness, cacheOf(func(c *plainCache) {
		c.read = func() (cached, <-chan zk.Event, error) {
			node, change, err := c.readAndWatch()
			if c.of != 0 {
				change = nil
			}
			return node, change, err
		}
	})),
	planted("calls each event an update", delivery, withEventsOf(func(c *plainCache) {
		c.edit = func(e object.CacheEvent) (object.CacheEvent, bool) {
			if e.Kind == object.NodeAdded {
				e.Kind = object.NodeUpdated
			}
			return e, true
		}
	})),
	planted("tells of no removal", delivery, withEventsOf(func(c *plainCache) {
		c.edit = func(e object.CacheEvent) (object.CacheEvent, bool) {
			return e, e.Kind != object.NodeRemoved
		}
	})),
	planted("takes a node without data for none", view, cacheOf(func(c *plainCache) {
		c.read = func() (cached, <-chan zk.Event, error) {
			node, change, err := c.readAndWatch()
			if len(node.Data) == 0 {
				node = cached{}
			}
			return node, change, err
		}
	})),
	planted("is never ready without the node", liveness, cacheOf(func(c *plainCache) {
		c.arrives = func(read cached) bool { return read.Path != "" }
	})),
	planted("goes back every other time", view, cacheOf(func(c *plainCache) {
		looks, old := 0, cached{}
		c.isNew = func(now, _ cached) bool {
			old = now
			return true
		}
		c.shown = func() []object.CachedNode {
			if looks++; old.Path != "" && looks%2 == 0 {
				return []object.CachedNode{old.CachedNode}
			}
			return c.copied()
		}
	})),
	{Title: "reads again whenever it is asked", Property: view, Wrong: cacheOf(func(c *plainCache) {
		c.shown = func() []object.CachedNode {
			go c.refresh()
			return c.copied()
		}
	}), Script: scenario.Script{Clients: 3, Rounds: 5}},
	planted("shows what nobody has written", view, cacheOf(func(c *plainCache) {
		c.read = func() (cached, <-chan zk.Event, error) {
			node, change, err := c.readAndWatch()
			if node.Path != "" && node.version == 1 {
				node.Data = append(node.Data, '!')
			}
			return node, change, err
		}
	})),
}

// cached is the node as the cache shows it.
type cached struct {
	object.CachedNode
	version int32
}

func nodeOf(data []byte, stat *zk.Stat) cached {
	return cached{object.CachedNode{Path: cachePath, Data: data, Zxid: stat.Mzxid}, stat.Version}
}

// plainCache is a local copy of one node: it reads the node and watches it by the same request, and
// reads it again at each event. An exhibit replaces a step by a wrong one.
type plainCache struct {
	conn  *zk.Conn
	life  context.Context
	end   context.CancelFunc
	ready chan struct{}

	read    func() (cached, <-chan zk.Event, error) // without a path: there is none
	isNew   func(now, read cached) bool             // whether the copy has to change
	stale   func() bool
	arrives func(read cached) bool // whether the copy is ready then
	shown   func() []object.CachedNode
	session bool // the latest event told of the session

	first sync.Once // closes ready

	mu  sync.Mutex
	of  int64 // session of the latest read, 0 if it has ended meanwhile
	now cached

	edit   func(object.CacheEvent) (e object.CacheEvent, told bool)
	events []object.CacheEvent
}

// cachePath is the node, as the workload of caches has it.
const cachePath = "/cache"

// cacheOf is a workload of a cache without events, with some steps replaced.
func cacheOf(steps ...func(*plainCache)) scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		return startCache(env.Conn, steps...)
	}, object.CacheClaims{Silent: true})
}

func startCache(conn *zk.Conn, steps ...func(*plainCache)) *plainCache {
	c := &plainCache{conn: conn, ready: make(chan struct{})}
	c.life, c.end = context.WithCancel(context.Background())
	c.read, c.stale, c.shown = c.readAndWatch, c.isStale, c.copied
	c.isNew = func(_, _ cached) bool { return true }
	c.arrives = func(cached) bool { return true }
	c.edit = func(e object.CacheEvent) (object.CacheEvent, bool) { return e, true }
	go with(c, steps).run()
	return c
}

// run reads, and waits for the next change.
func (c *plainCache) run() {
	for c.life.Err() == nil {
		change, err := c.look()
		if err != nil {
			change = after(100 * time.Millisecond)
		}
		event, _ := await(c.life, change)
		if errors.Is(event.Err, zk.ErrClosing) {
			return
		}
		c.session = event.Err != nil
	}
}

// look takes over the state of the node, and watches it.
func (c *plainCache) look() (<-chan zk.Event, error) {
	before := c.conn.SessionID()
	node, change, err := c.read()
	session := c.conn.SessionID()
	if err != nil || before != 0 && before != session {
		return nil, errors.Join(err, errMoved)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isNew(c.now, node) {
		c.addEvent(c.now, node)
		c.now = node
	}
	if c.of == 0 && c.arrives(node) {
		c.first.Do(func() { close(c.ready) })
	}
	c.of = session
	return change, nil
}

// refresh reads the node once more. Replies come in the order of the requests, so it has nothing
// older than the copy, unless it is paused between the reply and the next line.
func (c *plainCache) refresh() {
	data, stat, err := c.conn.Get(cachePath)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// wrong: the copy may be newer by now
	c.now = nodeOf(data, stat)
}

// errMoved says that a state may be of two sessions.
var errMoved = errors.New("read in two sessions")

func (c *plainCache) readAndWatch() (cached, <-chan zk.Event, error) {
	data, stat, change, err := c.conn.GetW(cachePath)
	if err == nil {
		return nodeOf(data, stat), change, nil
	}
	if !errors.Is(err, zk.ErrNoNode) {
		return cached{}, nil, err
	}
	there, _, change, err := c.conn.ExistsW(cachePath)
	if there {
		err = errMoved
	}
	return cached{}, change, err
}

func (c *plainCache) Ready(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *plainCache) Nodes() []object.CachedNode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown()
}

func (c *plainCache) copied() []object.CachedNode {
	if c.now.Path == "" {
		return nil
	}
	return []object.CachedNode{c.now.CachedNode}
}

func (c *plainCache) Stale() bool { return c.stale() }

func (c *plainCache) isStale() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of == 0 || c.conn.State() != zk.StateHasSession || c.conn.SessionID() != c.of
}

func (c *plainCache) Close(context.Context) error {
	c.end()
	return nil
}

// addEvent adds an event for the step from one state of the node to the next.
func (c *plainCache) addEvent(before, now cached) {
	e := object.CacheEvent{Kind: object.NodeUpdated, Node: now.CachedNode}
	switch {
	case now.Path == before.Path && now.Zxid == before.Zxid:
		return
	case now.Path == "":
		e = object.CacheEvent{Kind: object.NodeRemoved, Node: before.CachedNode}
	case before.Path == "":
		e.Kind = object.NodeAdded
	}
	if e, told := c.edit(e); told {
		c.events = append(c.events, e)
	}
}

// settingOf is a workload of caches that are started to look a setting up.
func settingOf(ready func(*plainCache, context.Context) error) scenario.Workload {
	w := playing(cacheOf(), func(p *scenario.Player, _ int) {
		c := startCache(p.Conn())
		_ = p.Do(ops.Look, "", func(ctx context.Context) (linearizability.Result, error) {
			err := ready(c, ctx)
			return linearizability.Result{Empty: err == nil && len(c.Nodes()) == 0}, err
		})
		p.Pause(time.Microsecond) // at one instant, chance would decide whether it reads or ends
		c.end()
	})
	w.Nodes = map[string]string{cachePath: "1"}
	return judgedBy(w, "what is there is found", func(e scenario.Evidence) error {
		for _, op := range e.History.Ops {
			if op.Empty {
				return fmt.Errorf("%s found nothing at step %d", op.Client, op.Return)
			}
		}
		return nil
	})
}

// withEvents is a plain cache that tells its changes.
type withEvents struct{ *plainCache }

// withEventsOf is a workload of a cache with events, with some steps replaced.
func withEventsOf(steps ...func(*plainCache)) scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		return withEvents{startCache(env.Conn, steps...)}
	})
}

func (t withEvents) TryNext() (object.CacheEvent, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) == 0 {
		return object.CacheEvent{}, false
	}
	e := t.events[0]
	t.events = t.events[1:]
	return e, true
}
