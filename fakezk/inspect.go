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
	// Timeout is the negotiated session timeout.
	Timeout time.Duration
	// Connected says that it has a connection now.
	Connected bool
	// Ephemerals are the paths of the nodes that go when it ends, sorted.
	Ephemerals []string
}

// Watch is a registered one-shot watch as Watches shows it.
type Watch struct {
	Path string
	// Children says that it waits for changes of the list of children, not of
	// the node itself.
	Children bool
	// Session is the watcher's.
	Session int64
}

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
	return sessionsOf(s.engine)
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
	err := put(s.engine, path, data, time.Now(), s.deliver)
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
	all := len(sessions) == 0
	wanted := map[int64]bool{}
	for _, id := range sessions {
		wanted[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(s.links)) {
		if all || wanted[s.engine.SessionOf(id)] {
			s.hangUp(s.links[id])
		}
	}
}

func treeOf(e *engine.Engine) []Node {
	var nodes []Node
	e.Store().Walk(func(path string, data []byte, stat proto.Stat, _ []proto.ACL) {
		if path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
			return
		}
		nodes = append(nodes, Node{
			Path: path, Data: data, Owner: stat.EphemeralOwner, Czxid: stat.Czxid, Mzxid: stat.Mzxid,
			Version: stat.Version, NumChildren: int(stat.NumChildren),
		})
	})
	return nodes
}

func sessionsOf(e *engine.Engine) []Session {
	var sessions []Session
	for _, v := range e.Sessions() {
		sessions = append(sessions, Session{
			ID: v.ID, Timeout: v.Timeout, Connected: v.Conn != 0, Ephemerals: e.Store().Ephemerals(v.ID),
		})
	}
	return sessions
}

func watchesOf(e *engine.Engine) []Watch {
	var watches []Watch
	for _, v := range e.Watches() {
		watches = append(watches, Watch{Path: v.Path, Children: v.Child, Session: v.Session})
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
	openACL := []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	create := func(p string, d []byte) proto.ErrCode {
		return submit(&proto.Create{Code: proto.OpCreate, Path: p, Data: d, ACL: openACL})
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
