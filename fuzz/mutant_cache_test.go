package fuzz_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// plainCache is a plain cache of one node, with one defect more for each flag.
type plainCache struct {
	conn  *zk.Conn
	bad   cacheDefects
	life  context.Context
	end   context.CancelFunc
	ready chan struct{}

	mu      sync.Mutex
	session int64 // of the latest read
	old     recipes.CachedNode
	now     recipes.CachedNode // without a path: nothing
	looks   int
	events  []recipes.CacheEvent
}

type cacheDefects struct {
	watchOnly   bool // in a new session it sets its watch, and takes nothing over
	byVersion   bool // takes the same version for the same node
	armsLate    bool // reads first and sets the watch afterwards
	onceOnly    bool // sets its watch once
	neverStale  bool // believes itself up to date
	allUpdated  bool // calls each event an update
	forgets     bool // does not tell of removals
	neverReady  bool // waits for the node, which may not come
	goesBack    bool // shows every other time what was before
	fullOfIdeas bool // shows what nobody has written
}

func newPlainCache(conn *zk.Conn, bad cacheDefects) *plainCache {
	c := &plainCache{conn: conn, bad: bad, ready: make(chan struct{})}
	c.life, c.end = context.WithCancel(context.Background())
	go c.run()
	return c
}

// run reads, and waits for the next change.
func (c *plainCache) run() {
	again := false
	for c.life.Err() == nil {
		watch, err := c.read(again)
		if err != nil {
			sleepFor(c.life, 100*time.Millisecond)
			continue
		}
		select {
		case ev := <-watch:
			again = ev.Err != nil
		case <-c.life.Done():
		}
	}
}

func sleepFor(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// read shows the node and returns a watch on it.
func (c *plainCache) read(newSession bool) (<-chan zk.Event, error) {
	session := c.conn.SessionID()
	data, stat, watch, err := c.get()
	var n recipes.CachedNode
	switch {
	case err == nil:
		n = recipes.CachedNode{Path: "/cache", Data: data, Stat: *stat}
	case errors.Is(err, zk.ErrNoNode):
		found, _, birth, err := c.conn.ExistsW("/cache")
		if err != nil || found {
			return nil, errors.Join(err, errAgain)
		}
		watch = birth
	default:
		return nil, err
	}
	switch now := c.conn.SessionID(); {
	case session == 0:
		session = now
	case session != now:
		return nil, errAgain
	}
	if !newSession || !c.bad.watchOnly {
		c.show(n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == 0 && (n.Path != "" || !c.bad.neverReady) {
		close(c.ready)
	}
	c.session = session
	return watch, nil
}

// errAgain says that what was read may be of two moments.
var errAgain = errors.New("it has changed meanwhile")

func (c *plainCache) get() ([]byte, *zk.Stat, <-chan zk.Event, error) {
	c.mu.Lock()
	read := c.session != 0
	c.mu.Unlock()
	if !c.bad.armsLate && (!c.bad.onceOnly || !read) {
		return c.conn.GetW("/cache")
	}
	data, stat, err := c.conn.Get("/cache")
	if err != nil || c.bad.onceOnly {
		return data, stat, nil, err
	}
	sleepFor(c.life, 5*time.Millisecond)
	_, _, watch, err := c.conn.GetW("/cache")
	return data, stat, watch, err
}

// show shows what was read, and tells of it.
func (c *plainCache) show(n recipes.CachedNode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.now
	if before.Path != "" && n.Path != "" && c.bad.byVersion && before.Stat.Version == n.Stat.Version {
		return
	}
	if c.bad.fullOfIdeas && n.Path != "" && n.Stat.Version == 1 {
		n.Data = append(n.Data, '!')
	}
	c.old, c.now = before, n
	e := recipes.CacheEvent{Kind: recipes.NodeUpdated, Node: n}
	switch {
	case n.Path == before.Path && n.Stat.Mzxid == before.Stat.Mzxid, n.Path == "" && c.bad.forgets:
		return
	case n.Path == "":
		e = recipes.CacheEvent{Kind: recipes.NodeRemoved, Node: before}
	case before.Path == "" && !c.bad.allUpdated:
		e.Kind = recipes.NodeAdded
	}
	c.events = append(c.events, e)
}

func (c *plainCache) Ready(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *plainCache) Nodes() []recipes.CachedNode {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	if c.bad.goesBack && c.old.Path != "" && c.looks%2 == 0 {
		return []recipes.CachedNode{c.old}
	}
	if c.now.Path == "" {
		return nil
	}
	return []recipes.CachedNode{c.now}
}

func (c *plainCache) Stale() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bad.neverStale {
		return false
	}
	return c.session == 0 || c.conn.State() != zk.StateHasSession || c.conn.SessionID() != c.session
}

func (c *plainCache) TryNext() (recipes.CacheEvent, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.events) == 0 {
		return recipes.CacheEvent{}, false
	}
	e := c.events[0]
	c.events = c.events[1:]
	return e, true
}

func (c *plainCache) Close(context.Context) error {
	c.end()
	return nil
}

func mutantCache(bad cacheDefects) scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher { return newPlainCache(env.Conn, bad) }).Named("mutant")
}

func TestMutantCachesAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		bad      cacheDefects
		property string
	}{
		{"watches again in a new session, and reads nothing", cacheDefects{watchOnly: true}, linearizability.Liveness},
		{"takes the same version for the same node", cacheDefects{byVersion: true}, linearizability.Liveness},
		{"watches after it has read", cacheDefects{armsLate: true}, linearizability.Liveness},
		{"watches once", cacheDefects{onceOnly: true}, linearizability.Liveness},
		{"never calls itself stale", cacheDefects{neverStale: true}, linearizability.Belief},
		{"calls each event an update", cacheDefects{allUpdated: true}, linearizability.Delivery},
		{"tells of no removal", cacheDefects{forgets: true}, linearizability.Delivery},
		{"is never ready without the node", cacheDefects{neverReady: true}, linearizability.Liveness},
		{"goes back every other time", cacheDefects{goesBack: true}, linearizability.View},
		{"shows what nobody has written", cacheDefects{fullOfIdeas: true}, linearizability.View},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantCache(m.bad), m.property) })
	}
}

// TestSameCacheWithoutDefectSurvives is the control.
func TestSameCacheWithoutDefectSurvives(t *testing.T) { survives(t, mutantCache(cacheDefects{})) }
