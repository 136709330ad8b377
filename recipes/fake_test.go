package recipes

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
}

func newFakeServer() *fakeServer {
	return &fakeServer{nodes: map[string]fakeNode{"/": {}}}
}

// fakeConn is a Conn with faults on request.
type fakeConn struct {
	s       *fakeServer
	session int64
	watches map[string][]chan zk.Event // "data /path" and "child /path"
	rules   []*rule
	closed  bool
	gate    chan struct{} // requests wait for it; nil: connected
	calls   []string
	cuts    int        // so many requests are answered at once by a cut
	seen    []zk.State // what State says in turn while cuts remain
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
	r.op, r.nth = op, nth
	c.rules = append(c.rules, &r)
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

func (s *fakeServer) children(path string) []string {
	var names []string
	for p := range s.nodes {
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
	if flags&zk.FlagSequence != 0 {
		path += fmt.Sprintf("%010d", up.creates)
	}
	if _, ok := s.nodes[path]; ok {
		return "", zk.ErrNodeExists
	}
	up.creates++
	s.nodes[parent(path)] = up
	n := fakeNode{data: data, stat: zk.Stat{Czxid: s.zxid, Mzxid: s.zxid}, creates: s.firstSeq}
	if flags&zk.FlagEphemeral != 0 {
		n.stat.EphemeralOwner = session
	}
	s.nodes[path] = n
	s.fire(zk.EventNodeCreated, "exist "+path, path)
	s.fire(zk.EventNodeChildrenChanged, "child "+parent(path), parent(path))
	return path, nil
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

// request runs one request under the rules. Each takes a millisecond, except
// on a closed connection.
func (c *fakeConn) request(op, path string, apply func() error) error {
	c.s.mu.Lock()
	cut := c.cuts > 0
	c.cuts = max(c.cuts-1, 0)
	closed, gate := c.closed || cut, c.gate
	c.calls = append(c.calls, op+" "+path)
	c.s.mu.Unlock()
	if closed {
		return zk.ErrConnectionClosed
	}
	if gate != nil {
		<-gate
	}
	time.Sleep(time.Millisecond)
	r := c.ruleFor(op)
	if r.before != nil {
		r.before()
	}
	err := r.err
	if !r.lose {
		err = c.apply(apply)
	}
	if r.after != nil {
		r.after()
	}
	if r.err != nil {
		return r.err
	}
	return err
}

func (c *fakeConn) apply(apply func() error) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.closed {
		return zk.ErrConnectionClosed
	}
	c.s.zxid++
	return apply()
}

func (c *fakeConn) ruleFor(op string) rule {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for i, r := range c.rules {
		if r.op != op {
			continue
		}
		if r.nth--; r.nth == 0 {
			c.rules = slices.Delete(c.rules, i, i+1)
			return *r
		}
	}
	return rule{}
}

func (c *fakeConn) Create(path string, data []byte, flags int32, _ []zk.ACL) (made string, err error) {
	err = c.request("create", path, func() (err error) {
		made, err = c.s.create(c.session, path, data, flags)
		return err
	})
	if err != nil {
		made = ""
	}
	return made, err
}

func (c *fakeConn) Delete(path string, version int32) error {
	return c.request("delete", path, func() error { return c.s.delete(path, version) })
}

func (c *fakeConn) Get(path string) ([]byte, *zk.Stat, error) {
	return c.read("get", path, nil)
}

func (c *fakeConn) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	ch := make(chan zk.Event, 1)
	data, stat, err := c.read("getW", path, ch)
	return data, stat, ch, err
}

func (c *fakeConn) read(op, path string, ch chan zk.Event) (data []byte, stat *zk.Stat, err error) {
	err = c.request(op, path, func() error {
		n, ok := c.s.nodes[path]
		if !ok {
			return zk.ErrNoNode
		}
		data, stat = n.data, &n.stat
		c.watch("data "+path, ch)
		return nil
	})
	return data, stat, err
}

func (c *fakeConn) watch(key string, ch chan zk.Event) {
	if ch != nil {
		c.watches[key] = append(c.watches[key], ch)
	}
}

func (c *fakeConn) Children(path string) ([]string, *zk.Stat, error) {
	return c.list("children", path, nil)
}

func (c *fakeConn) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	ch := make(chan zk.Event, 1)
	names, stat, err := c.list("childrenW", path, ch)
	return names, stat, ch, err
}

func (c *fakeConn) list(op, path string, ch chan zk.Event) (names []string, stat *zk.Stat, err error) {
	err = c.request(op, path, func() error {
		n, ok := c.s.nodes[path]
		if !ok {
			return zk.ErrNoNode
		}
		names, stat = c.s.children(path), &n.stat
		c.watch("child "+path, ch)
		return nil
	})
	return names, stat, err
}

func (c *fakeConn) Sync(path string) (string, error) {
	return path, c.request("sync", path, func() error { return nil })
}

func (c *fakeConn) Multi(ops ...interface{}) (results []zk.MultiResponse, err error) {
	err = c.request("multi", "", func() error {
		before := maps.Clone(c.s.nodes)
		results = make([]zk.MultiResponse, len(ops))
		for i, op := range ops {
			if results[i].Error = c.op(op); results[i].Error != nil {
				c.s.nodes = before
				for j := i + 1; j < len(ops); j++ {
					results[j].Error = fmt.Errorf("unknown error: -2")
				}
				return results[i].Error
			}
		}
		return nil
	})
	if err != nil && OutcomeOf(err) == Unknown {
		results = nil
	}
	return results, err
}

// op applies one operation of a transaction. Watches fire even if it is rolled
// back later, which the recipes must survive.
func (c *fakeConn) op(op interface{}) error {
	switch op := op.(type) {
	case *zk.CreateRequest:
		_, err := c.s.create(c.session, op.Path, op.Data, op.Flags)
		return err
	case *zk.DeleteRequest:
		return c.s.delete(op.Path, op.Version)
	}
	return zk.ErrAPIError
}

func (c *fakeConn) SessionID() int64 {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.session
}

func (c *fakeConn) State() zk.State {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.cuts > 0 && len(c.seen) > 0 {
		state := c.seen[0]
		c.seen = append(c.seen[1:], state)
		return state
	}
	if c.closed || c.gate != nil {
		return zk.StateDisconnected
	}
	return zk.StateHasSession
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
