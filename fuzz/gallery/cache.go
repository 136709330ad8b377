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
	"github.com/zksim/zksim/recipes"
)

var publishedCache = []Exhibit{
	{
		Slug: "same-version-other-node", Alias: "B68",
		Title:  "another node of the same version",
		Source: Report, Link: "https://github.com/apache/curator/issues/911",
		See: []string{"S4-8"},
		Bug: "A cache takes the same version for the same data. A node that is deleted and made " +
			"again while it looks elsewhere begins at 0 as the one before did: the cache keeps " +
			"the old data.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.isNew = func(now, read recipes.CachedNode) bool {
				// wrong: versions begin anew
				return now.Path != read.Path || now.Stat.Version != read.Stat.Version
			}
		}),
		Right: mirrorOf(nil),
	},
	{
		Slug: "deleted-not-watched-again", Alias: "B74",
		Title:  "what is deleted is not watched any more",
		Source: Report, Link: "https://github.com/python-zk/kazoo/issues/58",
		Bug: "The node is read again at each event of its watch. When it is deleted there is " +
			"nothing to read, and no watch is left by a read of nothing: a node that is made in " +
			"its place is not seen.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
				if m.now.Path == "" {
					return m.readAndWatch() // until it is there
				}
				data, stat, change, err := m.conn.GetW(mirrored)
				if errors.Is(err, zk.ErrNoNode) {
					return recipes.CachedNode{}, nil, nil // wrong: it may come back
				}
				if err != nil {
					return recipes.CachedNode{}, nil, err
				}
				return recipes.CachedNode{Path: mirrored, Data: data, Stat: *stat}, change, nil
			}
		}),
		Right: mirrorOf(nil),
	},
	{
		Slug: "read-before-loaded", Alias: "S4-5",
		Title:  "asked before it has read",
		Source: Report, Link: "https://github.com/apache/druid/issues/541",
		Bug: "The cache is started in the background, and asked at once. It has read nothing yet, " +
			"and answers that there is nothing: a setting that has been there for years counts as " +
			"missing.",
		Property: scenario.InvariantProperty,
		// wrong: it has read nothing
		Wrong: settingOf(func(*mirror, context.Context) error { return nil }),
		Right: settingOf((*mirror).Ready),
	},
	{
		Slug: "copy-never-stale", Alias: "S4-6",
		Title:  "a copy that does not know how old it is",
		Source: Text, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-docs/src/main/resources/markdown/zookeeperProgrammers.md#things-to-remember-about-watches",
		Bug: "While there is no connection the copy stays as it was, and says nothing of that. Who " +
			"asks it cannot tell what is so from what has been so.",
		Property: linearizability.Belief,
		// wrong: it may be cut off
		Wrong: mirrorOf(func(m *mirror) { m.stale = func() bool { return false } }),
		Right: mirrorOf(nil),
	},
	{
		Slug: "rewatched-without-rereading", Alias: "S4-7",
		Title:  "the watch is set again, and nothing read",
		Source: Report, Link: "https://github.com/naver/arcus-c-client/issues/53",
		See: []string{"kazoo pull request 391"},
		Bug: "After the end of a session the watch is set again in the next one. What has changed " +
			"between the two is told by no event, and the copy stays as it was.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.isNew = func(_, _ recipes.CachedNode) bool { return !m.session } // wrong: it may have changed
		}),
		Right: mirrorOf(nil),
	},
	{
		Slug: "read-then-watched", Alias: "S4-9",
		Title:  "read first, watched a moment later",
		Source: Report, Link: "https://github.com/librato/watchconf/pull/5",
		Bug: "The node is read, and then watched by another request, whose answer nobody looks at. " +
			"A change between the two is in neither.",
		Property: linearizability.Liveness,
		Wrong: mirrorOf(func(m *mirror) {
			m.read = func() (recipes.CachedNode, <-chan zk.Event, error) {
				data, stat, err := m.conn.Get(mirrored)
				if err != nil {
					return m.readAndWatch()
				}
				_, _, change, err := m.conn.ExistsW(mirrored) // wrong: what it tells is newer
				return recipes.CachedNode{Path: mirrored, Data: data, Stat: *stat}, change, err
			}
		}),
		Right: mirrorOf(nil),
	},
}

// mirror is a local copy of one node, right as it is: it reads the node and watches it
// by the same request, and reads it again whatever the watch tells. An exhibit replaces
// a step of it by a wrong one.
type mirror struct {
	conn  *zk.Conn
	life  context.Context
	end   context.CancelFunc
	ready chan struct{}

	read    func() (recipes.CachedNode, <-chan zk.Event, error) // without a path: there is none
	isNew   func(now, read recipes.CachedNode) bool             // whether the copy has to change
	stale   func() bool
	arrives func(read recipes.CachedNode) bool // whether the copy is ready then
	shown   func() []recipes.CachedNode
	close   context.CancelFunc
	session bool // the latest event told of the session

	mu  sync.Mutex
	of  int64 // session of the latest read
	now recipes.CachedNode

	edit   func(recipes.CacheEvent) (e recipes.CacheEvent, told bool) // nil: nothing
	events []recipes.CacheEvent
}

// mirrored is the node, as the workload of caches has it.
const mirrored = "/cache"

// mirrorOf is a workload of a cache with some steps replaced, nil for none.
func mirrorOf(replace func(*mirror)) scenario.Workload {
	return object.Cache(func(env object.Env) object.Cacher {
		return openMirror(env.Conn, replace)
	}, object.CacheClaims{Silent: true}).Named("")
}

func openMirror(c *zk.Conn, replace func(*mirror)) *mirror {
	m := &mirror{conn: c, ready: make(chan struct{})}
	m.life, m.end = context.WithCancel(context.Background())
	m.read, m.isNew, m.stale, m.close = m.readAndWatch, always, m.isStale, m.end
	m.shown, m.arrives = m.copied, func(recipes.CachedNode) bool { return true }
	if replace != nil {
		replace(m)
	}
	go m.run()
	return m
}

func always(_, _ recipes.CachedNode) bool { return true }

// run reads, and waits for the next change.
func (m *mirror) run() {
	for m.life.Err() == nil {
		change, err := m.look()
		if err != nil {
			change = after(100 * time.Millisecond)
		}
		select {
		case ev := <-change:
			if errors.Is(ev.Err, zk.ErrClosing) {
				return
			}
			m.session = ev.Err != nil
		case <-m.life.Done():
		}
	}
}

// after is an event of no kind after some time.
func after(d time.Duration) <-chan zk.Event {
	c := make(chan zk.Event, 1)
	time.AfterFunc(d, func() { c <- zk.Event{} })
	return c
}

// look takes over what is there, and watches it.
func (m *mirror) look() (<-chan zk.Event, error) {
	before := m.conn.SessionID()
	node, change, err := m.read()
	session := m.conn.SessionID()
	if err != nil || before != 0 && before != session {
		return nil, errors.Join(err, errMoved)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isNew(m.now, node) {
		m.tell(m.now, node)
		m.now = node
	}
	if m.of == 0 && m.arrives(node) {
		close(m.ready)
	}
	m.of = session
	return change, nil
}

// errMoved says that what was read may be of two sessions.
var errMoved = errors.New("read in two sessions")

func (m *mirror) readAndWatch() (recipes.CachedNode, <-chan zk.Event, error) {
	data, stat, change, err := m.conn.GetW(mirrored)
	if err == nil {
		return recipes.CachedNode{Path: mirrored, Data: data, Stat: *stat}, change, nil
	}
	if !errors.Is(err, zk.ErrNoNode) {
		return recipes.CachedNode{}, nil, err
	}
	there, _, change, err := m.conn.ExistsW(mirrored)
	if there {
		err = errMoved
	}
	return recipes.CachedNode{}, change, err
}

func (m *mirror) Ready(ctx context.Context) error {
	select {
	case <-m.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *mirror) Nodes() []recipes.CachedNode {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shown()
}

func (m *mirror) copied() []recipes.CachedNode {
	if m.now.Path == "" {
		return nil
	}
	return []recipes.CachedNode{m.now}
}

func (m *mirror) Stale() bool { return m.stale() }

func (m *mirror) isStale() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of == 0 || m.conn.State() != zk.StateHasSession || m.conn.SessionID() != m.of
}

func (m *mirror) Close(context.Context) error {
	m.close()
	return nil
}

// settingOf is a workload of caches that are started to look a setting up.
func settingOf(ready func(*mirror, context.Context) error) scenario.Workload {
	w := mirrorOf(nil)
	w.Nodes = map[string]string{mirrored: "1"}
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			m := openMirror(p.Conn(), nil)
			_ = p.Do(ops.Look, "", func(ctx context.Context) (linearizability.Result, error) {
				if err := ready(m, ctx); err != nil {
					return linearizability.Result{}, err
				}
				nodes := m.Nodes()
				return linearizability.Result{Empty: len(nodes) == 0}, nil
			})
			m.close()
		}
	}
	return judgedBy(w, "what is there is found", func(e scenario.Evidence) error {
		for _, op := range e.History.Ops {
			if op.Empty {
				return fmt.Errorf("%s found nothing at step %d", op.Client, op.Return)
			}
		}
		return nil
	})
}
