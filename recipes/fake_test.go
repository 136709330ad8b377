package recipes

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
)

// fakeServer is a znode tree in memory, just large enough for the recipes.
type fakeServer struct {
	mu       sync.Mutex
	zxid     int64
	nodes    map[string]fakeNode
	sessions int64
	conns    []*fakeConn
	firstSeq int32 // sequence number that new parents begin with
}

type fakeNode struct {
	data    []byte
	stat    zk.Stat
	creates int32

	container bool
}

func newFakeServer() *fakeServer {
	return &fakeServer{nodes: map[string]fakeNode{"/": {}}}
}

// fakeConn is a Conn with faults on request.
type fakeConn struct {
	s       *fakeServer
	session int64
	watches map[string][]chan zk.Event // "data /path", "exist /path" and "child /path"
	rules   []*rule
	closed  bool
	gate    chan struct{} // requests wait for it; nil: connected
	calls   []string
	cuts    int                 // so many requests are answered at once by a cut
	seen    []zk.State          // what State says in turn while cuts remain
	behind  map[string]fakeNode // what is read until the next sync; nil: what there is

	forbidden []string // paths that it may not read
}

// rule is a fault: what happens to the n-th request of one kind from now.
type rule struct {
	op     string
	nth    int
	before func()
	lose   bool // the request is not applied
	after  func()
	err    error
}

func (s *fakeServer) connect() *fakeConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	c := &fakeConn{s: s, session: 100 + s.sessions, watches: map[string][]chan zk.Event{}}
	s.conns = append(s.conns, c)
	return c
}

func (c *fakeConn) on(op string, nth int, r rule) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	r.op, r.nth = op, nth
	c.rules = append(c.rules, &r)
}

// off ends all rules.
func (c *fakeConn) off() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.rules = nil
}

var (
	loseReply   = rule{err: zk.ErrConnectionClosed}
	loseRequest = rule{lose: true, err: zk.ErrConnectionClosed}
	netError    = rule{err: io.ErrClosedPipe}
	noServer    = rule{lose: true, err: zk.ErrNoServer}
)

// expire ends the session; late leaves its ephemerals for reap.
func (c *fakeConn) expire(late bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	old := c.session
	c.s.sessions++
	c.session = 100 + c.s.sessions
	c.invalidate(zk.ErrSessionExpired)
	if !late {
		c.s.reap(old)
	}
}

func (c *fakeConn) close() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.closed = true
	c.invalidate(zk.ErrClosing)
	c.s.reap(c.session)
	if c.gate != nil {
		close(c.gate)
	}
}

func (c *fakeConn) disconnect() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.gate = make(chan struct{})
}

func (c *fakeConn) reconnect() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	close(c.gate)
	c.gate = nil
}

func (c *fakeConn) invalidate(err error) {
	for _, key := range slices.Sorted(maps.Keys(c.watches)) {
		for _, ch := range c.watches[key] {
			ch <- zk.Event{Type: zk.EventNotWatching, Err: err}
			close(ch)
		}
	}
	c.watches = map[string][]chan zk.Event{}
}

func (s *fakeServer) reap(session int64) {
	s.zxid++
	for _, path := range slices.Sorted(maps.Keys(s.nodes)) {
		if s.nodes[path].stat.EphemeralOwner == session {
			s.remove(path)
		}
	}
}

func (s *fakeServer) fire(typ zk.EventType, key, path string) {
	for _, c := range s.conns {
		for _, ch := range c.watches[key] {
			ch <- zk.Event{Type: typ, Path: path}
			close(ch)
		}
		delete(c.watches, key)
	}
}

func (s *fakeServer) remove(path string) {
	delete(s.nodes, path)
	s.fire(zk.EventNodeDeleted, "data "+path, path)
	s.fire(zk.EventNodeDeleted, "child "+path, path)
	s.fire(zk.EventNodeChildrenChanged, "child "+parent(path), parent(path))
}

func (s *fakeServer) children(path string) []string { return childrenIn(s.nodes, path) }

// snapshot is the tree as a server has it that lags behind from now on.
func (s *fakeServer) snapshot() map[string]fakeNode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.nodes)
}

// fallBehind ends the session, and begins the next one with a server that lags
// behind.
func (c *fakeConn) fallBehind(nodes map[string]fakeNode) {
	c.expire(false)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.behind = nodes
}

func childrenIn(nodes map[string]fakeNode, path string) []string {
	var names []string
	for p := range nodes {
		if p != "/" && parent(p) == path {
			names = append(names, p[strings.LastIndex(p, "/")+1:])
		}
	}
	return names
}

// below lists the nodes under a path, sorted, for assertions.
func (s *fakeServer) below(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.children(path)
	slices.Sort(names)
	return names
}

func (s *fakeServer) create(session int64, path string, data []byte, flags int32) (string, error) {
	up, ok := s.nodes[parent(path)]
	if !ok {
		return "", zk.ErrNoNode
	}
	if flags&zk.FlagSequence != 0 && flags < zk.FlagContainer {
		path += fmt.Sprintf("%010d", up.creates)
	}
	if _, ok := s.nodes[path]; ok {
		return "", zk.ErrNodeExists
	}
	if up.creates < math.MaxInt32 { // as since ZOOKEEPER-3249
		up.creates++
	}
	s.nodes[parent(path)] = up
	if up.stat.EphemeralOwner != 0 {
		return "", zk.ErrNoChildrenForEphemerals
	}
	n := fakeNode{container: flags == zk.FlagContainer, data: data, stat: zk.Stat{Czxid: s.zxid, Mzxid: s.zxid}, creates: s.firstSeq}
	if flags&zk.FlagEphemeral != 0 && flags < zk.FlagContainer {
		n.stat.EphemeralOwner = session
	}
	s.nodes[path] = n
	s.fire(zk.EventNodeCreated, "exist "+path, path)
	s.fire(zk.EventNodeChildrenChanged, "child "+parent(path), parent(path))
	return path, nil
}

func (s *fakeServer) set(path string, data []byte, version int32) (*zk.Stat, error) {
	n, ok := s.nodes[path]
	switch {
	case !ok:
		return nil, zk.ErrNoNode
	case version != -1 && version != n.stat.Version:
		return nil, zk.ErrBadVersion
	}
	n.data, n.stat.Mzxid, n.stat.Version = data, s.zxid, n.stat.Version+1
	s.nodes[path] = n
	s.fire(zk.EventNodeDataChanged, "data "+path, path)
	return &n.stat, nil
}

func (s *fakeServer) check(path string, version int32) error {
	n, ok := s.nodes[path]
	switch {
	case !ok:
		return zk.ErrNoNode
	case version != -1 && version != n.stat.Version:
		return zk.ErrBadVersion
	}
	return nil
}

func (s *fakeServer) delete(path string, version int32) error {
	n, ok := s.nodes[path]
	switch {
	case !ok:
		return zk.ErrNoNode
	case version != -1 && version != n.stat.Version:
		return zk.ErrBadVersion
	case len(s.children(path)) > 0:
		return zk.ErrNotEmpty
	}
	s.remove(path)
	return nil
}

// seed puts a node of another session in the tree.
func (s *fakeServer) seed(t *testing.T, session int64, path string, data string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zxid++
	var flags int32
	if session != 0 {
		flags = zk.FlagEphemeral
	}
	if _, err := s.create(session, path, []byte(data), flags); err != nil {
		t.Fatalf("seed %s: %v", path, err)
	}
}

// called counts the requests of a kind so far.
func (c *fakeConn) called(op string) int {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	n := 0
	for _, call := range c.calls {
		if strings.HasPrefix(call, op+" ") {
			n++
		}
	}
	return n
}
