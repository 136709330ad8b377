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
	s.turns.begin()
	nodes := s.nodesBelow("/")
	s.turns.end()
	var specs []view.NodeSpec
	for _, n := range inOrder(nodes) {
		kind, ttl := inspect.Kind(n.NodeView)
		if isServersOwn(n.path) || kind == view.EphemeralNode {
			continue
		}
		specs = append(specs, view.NodeSpec{
			Path: n.path, Data: slices.Clone(n.Data), ACL: inspect.ACLs(n.ACL),
			Kind: kind, TTL: ttl, Next: n.Created,
		})
	}
	return specs
}

// Reset empties the server without a restart: it clears faults, ends every session, and removes
// every node but the server's own; "/" gets its first data and ACL again. All nodes go with one zxid
// and without events, as no client is left. Zxids, session ids and names, and the sequence numbers
// of the nodes that stay go on.
func (s *Server) Reset() {
	s.turns.begin()
	defer s.turns.end()
	s.recorder.call("reset", "", "")
	s.faults.clear()
	for sessions := s.engine.Sessions(); len(sessions) > 0; sessions = s.engine.Sessions() {
		for _, v := range sessions { // others may come and go between turns
			if reaction, ok := s.engine.Expire(v.ID, time.Now()); ok {
				s.pipeline.deliver(reaction)
			}
			s.turns.step(1)
		}
	}
	s.pipeline.deliver(s.engine.Clear(time.Now()))
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
