package fakezk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
)

// Tree returns all nodes but those under /zookeeper, in order of path.
func (s *Server) Tree() view.Nodes {
	s.turns.begin()
	all := s.nodesBelow("/")
	s.turns.end()
	var nodes view.Nodes
	for _, n := range inOrder(all) {
		if !isBelow(n.path, "/zookeeper") {
			nodes = append(nodes, inspect.NodeOf(n.path, n.NodeView))
		}
	}
	return nodes
}

// Get returns one node, and whether it exists. Its ACL is not checked.
func (s *Server) Get(path string) (n view.Node, exists bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inspect.Node(s.engine, path)
}

// Exists says whether there is a node.
func (s *Server) Exists(path string) bool {
	_, exists := s.Get(path)
	return exists
}

// CheckGet makes the test fail unless there is a node with this data. Null data counts as empty.
func (s *Server) CheckGet(t TB, path, data string) {
	t.Helper()
	switch n, exists := s.Get(path); {
	case !exists:
		t.Errorf("fakezk: no node %s; %s", path, s)
	case string(n.Data) != data:
		t.Errorf("fakezk: node %s has data %q; expected %q", path, n.Data, data)
	}
}

// CheckGone makes the test fail if there is a node at the path.
func (s *Server) CheckGone(t TB, path string) {
	t.Helper()
	if n, exists := s.Get(path); exists {
		t.Errorf("fakezk: node %s; expected none", n)
	}
}

// String is the server in one line: its sessions and its nodes, of which the first ten have their
// names.
func (s *Server) String() string {
	const most = 10
	var paths []string
	for _, n := range s.Tree() {
		if n.Path != "/" {
			paths = append(paths, n.Path)
		}
	}
	text := fmt.Sprintf("the server has %d sessions and %d nodes", len(s.Sessions()), len(paths))
	if len(paths) > 0 {
		text += ": " + strings.Join(paths[:min(most, len(paths))], ", ")
	}
	if len(paths) > most {
		text += ", ..."
	}
	return text
}

// Sessions returns the live sessions in order of id.
func (s *Server) Sessions() []view.Session {
	s.turns.begin()
	var sessions []view.Session
	for _, v := range s.engine.Sessions() {
		session := inspect.SessionOf(s.engine, v)
		session.Name = s.names.name(v.ID)
		sessions = append(sessions, session)
		s.turns.step(1 + len(session.Ephemerals))
	}
	s.turns.end()
	for _, session := range sessions {
		slices.Sort(session.Ephemerals)
	}
	return sessions
}

// Watches returns the registered watches in order of path.
func (s *Server) Watches() []view.Watch {
	s.turns.begin()
	var watches []engine.WatchView
	for _, c := range s.engine.Conns() {
		for v := range s.engine.WatchesOf(c.ID) {
			watches = append(watches, v)
			s.turns.step(1)
		}
	}
	s.turns.end()
	engine.SortWatches(watches)
	return inspect.Watches(watches)
}

// Put creates a node, and its parents where they are missing, or replaces its data. No ACL is
// checked. Watches fire as for any client's write.
func (s *Server) Put(path string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorder.call("put", path, ", %d bytes", len(data))
	err := inspect.Put(s.engine, path, slices.Clone(data), time.Now(), s.pipeline.deliver)
	s.expiry.schedule()
	return err
}

// Remove deletes a node and everything under it; "/" stays, but is emptied. No ACL is checked.
// Watches fire. It is not an error if there is no such node. Of more than 4,096 nodes, other
// clients have their turn between; nodes that they make meanwhile are deleted, too.
func (s *Server) Remove(path string) error {
	if err := inspect.CheckPath(path); err != nil {
		return fmt.Errorf("fakezk: remove: %w", err)
	}
	s.turns.begin()
	defer s.turns.end()
	s.recorder.call("remove", path, "")
	gone, code := s.removeBelow(path)
	for range 10 { // others may make nodes between turns
		if code != proto.NotEmpty {
			break
		}
		gone, code = s.removeBelow(path)
	}
	if code != proto.OK {
		return fmt.Errorf("fakezk: remove %s: %s", gone, code)
	}
	return nil
}

// removeBelow deletes a node and all below it, until a delete fails.
func (s *Server) removeBelow(root string) (path string, code proto.ErrCode) {
	for _, n := range slices.Backward(inOrder(s.nodesBelow(root))) { // children first
		if n.path == "/" || isBelow(n.path, "/zookeeper") {
			continue
		}
		code := s.pipeline.submit(&proto.Delete{Path: n.path, Version: -1}, time.Now())
		if code != proto.OK && code != proto.NoNode { // somebody else may have deleted it
			return n.path, code
		}
		s.turns.step(1)
	}
	return root, proto.OK
}

// ExpireSession ends a session now: its ephemerals go, its connection is
// closed, and the client learns of it when it reconnects.
func (s *Server) ExpireSession(id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorder.call("expire", "", "%s", s.recorder.sessionsText([]int64{id}))
	reaction, ok := s.engine.Expire(id, time.Now())
	if !ok {
		return fmt.Errorf("fakezk: expire session 0x%x: no such session", id)
	}
	s.pipeline.deliver(reaction)
	s.ensemble.endSession(id)
	s.expiry.schedule()
	return nil
}

// DropConnections closes the connections of the given sessions, or of all if
// none is given. Sessions live on; clients reconnect.
func (s *Server) DropConnections(sessions ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorder.call("drop", "", "%s", s.recorder.sessionsText(sessions))
	for _, l := range s.links.of(sessions...) {
		s.pipeline.hangUp(l)
	}
}
