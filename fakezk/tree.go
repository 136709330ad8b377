package fakezk

import (
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// NodeSpec is a znode as a value, without what only one run of a server can
// know of it: times, zxids and versions. Snapshot returns them, Load makes them.
type NodeSpec struct {
	Path string
	// Data is nil for null data, which a client can tell from empty data.
	Data []byte
	// ACL is never empty in a snapshot. In Load, an empty one means that everybody
	// may do everything.
	ACL []ACL
	// Kind is PersistentNode, ContainerNode or TTLNode.
	Kind NodeKind
	// TTL is that of a TTLNode, in whole milliseconds, else 0.
	TTL time.Duration
	// Next is the number that the next sequential child gets, which is also how
	// many children have ever been created, 0 or more. Load takes a smaller number
	// than that of the children it makes, such as 0, for that number. A node's
	// cversion follows from it: it counts the deletions too.
	Next int32
}

// NodeKind tells when a node goes.
type NodeKind int

// The kinds of nodes.
const (
	// PersistentNode stays until it is deleted.
	PersistentNode NodeKind = iota
	// EphemeralNode goes with the session that owns it.
	EphemeralNode
	// ContainerNode goes some time after its last child.
	ContainerNode
	// TTLNode goes when it is childless and has not been modified for its TTL.
	TTLNode
)

// String is the kind in one lower-case word, or "kind 77" for what is none.
func (k NodeKind) String() string {
	names := [...]string{"persistent", "ephemeral", "container", "ttl"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return names[k]
}

// ACL is one entry of an access control list. Perms are the bits of package zk.
type ACL struct {
	Perms      int32
	Scheme, ID string
}

// openACLs is the list by which everybody may do everything.
var openACLs = []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}

// Snapshot returns all nodes that a restart would keep, in order of path: no
// ephemerals, and of those under /zookeeper not the server's own three
// (/zookeeper, its children config and quota), but quotas. Load on another
// server makes the same tree of it.
func (s *Server) Snapshot() []NodeSpec {
	s.mu.Lock()
	defer s.mu.Unlock()
	var specs []NodeSpec
	for path, n := range s.engine.Store().Nodes() {
		kind, ttl := kindOf(n)
		if isServersOwn(path) || kind == EphemeralNode {
			continue
		}
		specs = append(specs, NodeSpec{
			Path: path, Data: slices.Clone(n.Data), ACL: exportACL(n.ACL), Kind: kind, TTL: ttl, Next: n.Created,
		})
	}
	return specs
}

// Reset makes the server an empty one without a restart: it clears faults, ends
// every session, and removes every node but the server's own; "/" gets its first
// data and ACL again. Zxids, session ids and names, and the sequence numbers of
// the nodes that stay go on.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	for _, req := range s.changesOfRoot([]byte{}, openACLs) {
		s.mustSubmit(req, now)
	}
	s.schedule()
}

// changesOfRoot lists what gives "/" data and ACL, if it has others.
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
		panic(fmt.Sprintf("fakezk: the server's own %s of %s is refused: %s", req.Op(), pathOf(req), code))
	}
}

// isServersOwn tells the nodes under /zookeeper that every server has.
func isServersOwn(path string) bool {
	return path == "/zookeeper" || path == "/zookeeper/config" || path == "/zookeeper/quota"
}

func exportACL(acl []proto.ACL) []ACL {
	list := make([]ACL, len(acl))
	for i, entry := range acl {
		list[i] = ACL(entry)
	}
	return list
}

// kindOf is the kind of a node, and its TTL.
func kindOf(n state.NodeView) (NodeKind, time.Duration) {
	switch {
	case n.Stat.EphemeralOwner != 0:
		return EphemeralNode, 0
	case n.Kind == state.KindContainer:
		return ContainerNode, 0
	case n.Kind == state.KindTTL:
		return TTLNode, time.Duration(n.TTLMs) * time.Millisecond
	}
	return PersistentNode, 0
}
