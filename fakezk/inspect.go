package fakezk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
)

// Tree returns all nodes but those under /zookeeper, in order of path.
func (s *Server) Tree() []view.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inspect.Tree(s.engine)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	sessions := inspect.Sessions(s.engine)
	for i := range sessions {
		sessions[i].Name = s.names.name(sessions[i].ID)
	}
	return sessions
}

// Watches returns the registered watches in order of path.
func (s *Server) Watches() []view.Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inspect.Watches(s.engine)
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
// Watches fire. It is not an error if there is no such node.
func (s *Server) Remove(path string) error {
	if err := inspect.CheckPath(path); err != nil {
		return fmt.Errorf("fakezk: remove: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorder.call("remove", path, "")
	for _, n := range slices.Backward(inspect.Tree(s.engine)) { // children come after their parents
		if n.Path == "/" ||
			n.Path != path && !strings.HasPrefix(n.Path, strings.TrimSuffix(path, "/")+"/") {
			continue
		}
		req := &proto.Delete{Path: n.Path, Version: -1}
		if code := s.pipeline.submit(req, time.Now()); code != proto.OK {
			return fmt.Errorf("fakezk: remove %s: %s", n.Path, code)
		}
	}
	return nil
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
