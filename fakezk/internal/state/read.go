package state

import (
	"maps"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Reads do not validate their paths: one that no node can have is not found. The
// empty path is the root.

// Exists returns a node's stat. It needs no permission. The error is NoNode,
// or BadArguments for a path with a NUL.
func (s *Store) Exists(path string) (proto.Stat, proto.ErrCode) {
	if strings.Contains(path, "\x00") {
		return proto.Stat{}, proto.BadArguments
	}
	n, ok := s.find(path)
	if !ok {
		return proto.Stat{}, proto.NoNode
	}
	return n.stat(), proto.OK
}

// GetData returns a node's data and stat; data that was created as null is nil.
// It needs READ. The error is NoNode or NoAuth.
func (s *Store) GetData(path string, by Caller) ([]byte, proto.Stat, proto.ErrCode) {
	n, err := s.readable(path, by)
	if err != proto.OK {
		return nil, proto.Stat{}, err
	}
	return n.data, n.stat(), proto.OK
}

// Children returns the names of a node's children in order of their creation,
// and the node's stat. It needs READ. The error is NoNode or NoAuth. (On a
// real server the order is that of a hash set.)
func (s *Store) Children(path string, by Caller) ([]string, proto.Stat, proto.ErrCode) {
	n, err := s.readable(path, by)
	if err != proto.OK {
		return nil, proto.Stat{}, err
	}
	names := make([]string, 0, n.numChildren)
	for child := n.first; child != nil; child = child.next {
		names = append(names, child.name)
	}
	return names, n.stat(), proto.OK
}

func (s *Store) readable(path string, by Caller) (*node, proto.ErrCode) {
	n, ok := s.find(path)
	if !ok {
		return nil, proto.NoNode
	}
	if !CanRead(n.acl, by) {
		return nil, proto.NoAuth
	}
	return n, proto.OK
}

// ACL returns a node's ACL and stat. It needs READ or ADMIN; without ADMIN the
// hashes of digest entries are masked. The error is NoNode or NoAuth.
func (s *Store) ACL(path string, by Caller) ([]proto.ACL, proto.Stat, proto.ErrCode) {
	n, ok := s.find(path)
	if !ok {
		return nil, proto.Stat{}, proto.NoNode
	}
	if !allowed(n.acl, proto.PermRead|proto.PermAdmin, by) {
		return nil, proto.Stat{}, proto.NoAuth
	}
	if !allowed(n.acl, proto.PermAdmin, by) {
		return masked(n.acl), n.stat(), proto.OK
	}
	return n.acl, n.stat(), proto.OK
}

// Node looks at a node without asking its ACL.
func (s *Store) Node(path string) (data []byte, stat proto.Stat, acl []proto.ACL, ok bool) {
	n, ok := s.find(path)
	if !ok {
		return nil, proto.Stat{}, nil, false
	}
	return n.data, n.stat(), n.acl, true
}

// Walk calls visit for every node in the order of the paths, without asking
// ACLs. visit must not apply anything.
func (s *Store) Walk(visit func(path string, data []byte, stat proto.Stat, acl []proto.ACL)) {
	for _, path := range slices.Sorted(maps.Keys(s.nodes)) {
		n := s.nodes[path]
		visit(path, n.data, n.stat(), n.acl)
	}
}
