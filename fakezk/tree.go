package fakezk

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/view"
)

// Snapshot returns all nodes that a restart would keep, in order of path: no ephemerals, and none
// of the server's own three, /zookeeper and its children config and quota. The quotas below them
// are included. Load on another server makes the same tree of it.
func (s *Server) Snapshot() []view.NodeSpec {
	s.mu.Lock()
	defer s.mu.Unlock()
	var specs []view.NodeSpec
	for path, n := range s.engine.Store().Nodes() {
		kind, ttl := inspect.Kind(n)
		if isServersOwn(path) || kind == view.EphemeralNode {
			continue
		}
		specs = append(specs, view.NodeSpec{
			Path: path, Data: slices.Clone(n.Data), ACL: inspect.ACLs(n.ACL), Kind: kind, TTL: ttl,
			Next: n.Created,
		})
	}
	return specs
}

// Reset empties the server without a restart: it clears faults, ends every session, and removes
// every node but the server's own; "/" gets its first data and ACL again. Zxids, session ids and
// names, and the sequence numbers of the nodes that stay go on.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorder.call("reset", "", "")
	now := time.Now()
	s.faults.clear()
	for _, v := range s.engine.Sessions() {
		reaction, _ := s.engine.Expire(v.ID, now)
		s.pipeline.deliver(reaction)
	}
	var paths []string
	for path := range s.engine.Store().Nodes() {
		if path != "/" && !isServersOwn(path) {
			paths = append(paths, path)
		}
	}
	for _, path := range slices.Backward(paths) { // children come after their parents
		s.pipeline.mustSubmit(&proto.Delete{Path: path, Version: -1}, now)
	}
	for _, req := range changesOfRoot(s.engine.Store(), []byte{}, inspect.OpenACL) {
		s.pipeline.mustSubmit(req, now)
	}
	s.expiry.schedule()
}

// changesOfRoot lists the requests that set data and ACL of "/", if they differ.
func changesOfRoot(store *state.Store, data []byte, acl []proto.ACL) []proto.Request {
	var changes []proto.Request
	old, _ := store.Node("/")
	if (old.Data == nil) != (data == nil) || !slices.Equal(old.Data, data) {
		changes = append(changes, &proto.SetData{Path: "/", Data: data, Version: -1})
	}
	if !slices.Equal(old.ACL, acl) {
		changes = append(changes, &proto.SetACL{Path: "/", ACL: acl, Version: -1})
	}
	return changes
}

// isServersOwn reports whether a node is one of those under /zookeeper that every server has.
func isServersOwn(path string) bool {
	return path == "/zookeeper" || path == "/zookeeper/config" || path == "/zookeeper/quota"
}
