package fakezk

import (
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/proto"
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
	s.clearFaults(now)
	for _, v := range s.engine.Sessions() {
		reaction, _ := s.engine.Expire(v.ID, now)
		s.deliver(reaction)
	}
	var paths []string
	for path := range s.engine.Store().Nodes() {
		if path != "/" && !isServersOwn(path) {
			paths = append(paths, path)
		}
	}
	for _, path := range slices.Backward(paths) { // children come after their parents
		s.mustSubmit(&proto.Delete{Path: path, Version: -1}, now)
	}
	for _, req := range s.changesOfRoot([]byte{}, inspect.OpenACL) {
		s.mustSubmit(req, now)
	}
	s.schedule()
}

// changesOfRoot lists the requests that set data and ACL of "/", if they differ.
func (s *Server) changesOfRoot(data []byte, acl []proto.ACL) []proto.Request {
	var changes []proto.Request
	old, _ := s.engine.Store().Node("/")
	if (old.Data == nil) != (data == nil) || !slices.Equal(old.Data, data) {
		changes = append(changes, &proto.SetData{Path: "/", Data: data, Version: -1})
	}
	if !slices.Equal(old.ACL, acl) {
		changes = append(changes, &proto.SetACL{Path: "/", ACL: acl, Version: -1})
	}
	return changes
}

// submit applies a request of the server itself. Of a multi, the code is that of
// the first operation that failed.
func (s *Server) submit(req proto.Request, now time.Time) proto.ErrCode {
	res, reaction := s.engine.Submit(req, now)
	s.deliver(reaction)
	if multi, ok := res.Reply.(proto.MultiReply); ok {
		for _, part := range multi.Results {
			if part.Err != proto.OK {
				return part.Err
			}
		}
	}
	return res.Err
}

// mustSubmit applies a request that cannot fail.
func (s *Server) mustSubmit(req proto.Request, now time.Time) {
	if code := s.submit(req, now); code != proto.OK {
		panic(fmt.Sprintf("fakezk: the server's own %s of %s is refused: %s", req.Op(),
			proto.PathOf(req), code))
	}
}

// isServersOwn reports whether a node is one of those under /zookeeper that every server has.
func isServersOwn(path string) bool {
	return path == "/zookeeper" || path == "/zookeeper/config" || path == "/zookeeper/quota"
}
