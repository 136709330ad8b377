package fakezk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Node is a znode as Tree shows it.
type Node struct {
	Path string
	// Data is nil if the node was created with null data.
	Data []byte
	// Kind is PersistentNode, EphemeralNode, ContainerNode or TTLNode.
	Kind NodeKind
	// TTL is that of a TTLNode, else 0.
	TTL time.Duration
	// ACL is nil for the usual list, by which everybody may do everything.
	ACL []ACL
	// Owner is the session that owns an ephemeral node, else 0.
	Owner int64
	// Czxid and Mzxid are the transactions that created and last changed it.
	Czxid, Mzxid int64
	Version      int32
	NumChildren  int
}

// Session is a session as Sessions shows it.
type Session struct {
	ID int64
	// Name is S1 for the first session that was created on the server, S2 for the
	// second and so on: what selects it as the Client of a Fault. In the Result
	// of a World, whose faults select clients by their own names, it is empty.
	Name string
	// Timeout is the negotiated session timeout.
	Timeout time.Duration
	// Connected says that it has a connection now.
	Connected bool
	// Ephemerals are the paths of the nodes that go when it ends, sorted.
	Ephemerals []string
}

// Watch is a registered watch as Watches shows it.
type Watch struct {
	Path string
	// Children says that it waits for changes of the list of children, not of
	// the node itself.
	Children bool
	// Mode says what becomes of it when it fires. Those of addWatch are shown
	// twice, with and without Children.
	Mode WatchMode
	// Session is the watcher's.
	Session int64
}

// WatchMode says what becomes of a watch when it fires.
type WatchMode int

// The modes of watches.
const (
	// OneShotWatch is gone when it fires.
	OneShotWatch = WatchMode(engine.OneShot)
	// PersistentWatch stays. It is left by addWatch.
	PersistentWatch = WatchMode(engine.Persistent)
	// RecursiveWatch stays, and stands for a node and all below it.
	RecursiveWatch = WatchMode(engine.Recursive)
)

// String is the mode as ZooKeeper's WatcherMode calls it, in lower case:
// standard, persistent or persistent-recursive.
func (m WatchMode) String() string { return engine.WatchMode(m).String() }

// Tree returns all nodes in order of path, those under /zookeeper left out.
func (s *Server) Tree() []Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return treeOf(s.engine)
}

// Sessions returns the live sessions in order of id.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	sessions := sessionsOf(s.engine)
	for i := range sessions {
		sessions[i].Name = s.roster.name(sessions[i].ID)
	}
	return sessions
}

// Watches returns the registered watches in order of path.
func (s *Server) Watches() []Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return watchesOf(s.engine)
}

// Put creates a node, and its parents where they are missing, or replaces its
// data. No ACL is asked. Watches fire as for any client's write.
func (s *Server) Put(path string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := put(s.engine, path, slices.Clone(data), time.Now(), s.deliver)
	s.schedule()
	return err
}

// Remove deletes a node and everything under it; "/" stays, but is emptied. No
// ACL is asked. Watches fire. It is not an error if there is no such node.
func (s *Server) Remove(path string) error {
	if err := checkPath(path); err != nil {
		return fmt.Errorf("fakezk: remove: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := treeOf(s.engine)
	for i := len(nodes) - 1; i >= 0; i-- { // children come after their parents
		p := nodes[i].Path
		if p != path && !strings.HasPrefix(p, strings.TrimSuffix(path, "/")+"/") || p == "/" {
			continue
		}
		res, reaction := s.engine.Submit(&proto.Delete{Path: p, Version: -1}, time.Now())
		s.deliver(reaction)
		if res.Err != proto.OK {
			return fmt.Errorf("fakezk: remove %s: %s", p, res.Err)
		}
	}
	return nil
}

// ExpireSession ends a session now: its ephemerals go, its connection is
// closed, and the client learns of it when it reconnects.
func (s *Server) ExpireSession(id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	reaction, ok := s.engine.Expire(id, time.Now())
	if !ok {
		return fmt.Errorf("fakezk: expire session 0x%x: no such session", id)
	}
	s.deliver(reaction)
	s.schedule()
	return nil
}

// DropConnections closes the connections of the given sessions, or of all if
// none is given. Sessions live on; clients reconnect.
func (s *Server) DropConnections(sessions ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.linksOf(sessions) {
		s.hangUp(l)
	}
}

// linksOf lists the connections of the given sessions, or all if none is given,
// in order.
func (s *Server) linksOf(sessions []int64) []*serverLink {
	all := maps.Clone(s.links)
	if s.inject != nil { // where some wait for their end
		maps.Copy(all, s.inject.detours)
	}
	var links []*serverLink
	for _, id := range slices.Sorted(maps.Keys(all)) {
		l := all[id]
		if len(sessions) == 0 || l.name != "" && slices.ContainsFunc(sessions, func(id int64) bool { return s.roster.name(id) == l.name }) {
			links = append(links, l)
		}
	}
	return links
}

func treeOf(e *engine.Engine) []Node {
	var nodes []Node
	for path, v := range e.Store().Nodes() {
		if path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
			continue
		}
		n := Node{
			Path: path, Data: slices.Clone(v.Data), Owner: v.Stat.EphemeralOwner, Czxid: v.Stat.Czxid, Mzxid: v.Stat.Mzxid,
			Version: v.Stat.Version, NumChildren: int(v.Stat.NumChildren),
		}
		n.Kind, n.TTL = kindOf(v)
		if !slices.Equal(v.ACL, openACLs) {
			n.ACL = exportACL(v.ACL)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func sessionsOf(e *engine.Engine) []Session {
	var sessions []Session
	for _, v := range e.Sessions() {
		sessions = append(sessions, Session{
			ID: v.ID, Timeout: v.Timeout, Connected: v.Conn != 0, Ephemerals: slices.Sorted(slices.Values(e.Store().Ephemerals(v.ID))),
		})
	}
	return sessions
}

func watchesOf(e *engine.Engine) []Watch {
	var watches []Watch
	for _, v := range e.Watches() {
		watches = append(watches, Watch{Path: v.Path, Children: v.Child, Mode: WatchMode(v.Mode), Session: v.Session})
	}
	return watches
}

// checkPath refuses what cannot be the path of a node that the direct calls may
// change.
func checkPath(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"), strings.Contains(path, "//"), path != "/" && strings.HasSuffix(path, "/"):
		return fmt.Errorf("path %q: expected / or names that each follow one /", path)
	case path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/"):
		return fmt.Errorf("path %q: what is under /zookeeper is the server's own", path)
	}
	return nil
}

// put creates or sets a node and its missing parents.
func put(e *engine.Engine, path string, data []byte, now time.Time, deliver func(engine.Reaction)) error {
	submit := func(req proto.Request) proto.ErrCode {
		res, reaction := e.Submit(req, now)
		deliver(reaction)
		return res.Err
	}
	if err := checkPath(path); err != nil {
		return fmt.Errorf("fakezk: put: %w", err)
	}
	create := func(p string, d []byte) proto.ErrCode {
		return submit(&proto.Create{Code: proto.OpCreate, Path: p, Data: d, ACL: openACLs})
	}
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if _, code := e.Store().Exists(path[:i]); code == proto.OK {
			continue
		}
		if code := create(path[:i], nil); code != proto.OK {
			return fmt.Errorf("fakezk: put %s: create %s: %s", path, path[:i], code)
		}
	}
	code := proto.NodeExists
	if _, missing := e.Store().Exists(path); missing != proto.OK {
		code = create(path, data)
	}
	if code == proto.NodeExists {
		code = submit(&proto.SetData{Path: path, Data: data, Version: -1})
	}
	if code != proto.OK {
		return fmt.Errorf("fakezk: put %s: %s", path, code)
	}
	return nil
}
