package museum

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

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
	close   context.CancelFunc
	session bool // the latest event told of the session

	mu  sync.Mutex
	of  int64 // session of the latest read
	now recipes.CachedNode
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
		m.now = node
	}
	if m.of == 0 {
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
