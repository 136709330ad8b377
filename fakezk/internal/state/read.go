package state

import (
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Reads do not validate their paths: an invalid one is not found. The empty path is the
// root. All return MarshallingError for proto.NullPath.

// Exists returns a node's stat. It needs no permission. The error is NoNode,
// or BadArguments for a path with a NUL.
func (s *Store) Exists(path string) (proto.Stat, proto.ErrCode) {
	if strings.Contains(path, "\x00") {
		return proto.Stat{}, proto.BadArguments
	}
	n, err := s.tree.lookUp(path)
	if err != proto.OK {
		return proto.Stat{}, err
	}
	return n.stat(), proto.OK
}

// GetData returns a node's data and stat; data that was created as null is nil.
// It needs READ. The error is NoNode or NoAuth.
func (s *Store) GetData(path string, by Caller) ([]byte, proto.Stat, proto.ErrCode) {
	n, err := s.tree.readable(path, by)
	if err != proto.OK {
		return nil, proto.Stat{}, err
	}
	return n.data, n.stat(), proto.OK
}

// Children returns the names of a node's children in the real server's order, that of
// a Java hash set, and the node's stat. It needs READ. The error is NoNode or NoAuth.
// The names must not be written to.
func (s *Store) Children(path string, by Caller) ([]string, proto.Stat, proto.ErrCode) {
	n, err := s.tree.readable(path, by)
	if err != proto.OK {
		return nil, proto.Stat{}, err
	}
	return n.children.keys(), n.stat(), proto.OK
}

// ListBytes is the number of bytes that a list of a node's children takes on the wire, 0 without a
// node.
func (s *Store) ListBytes(path string) int {
	n, ok := s.tree.find(path)
	if !ok {
		return 0
	}
	return n.children.listBytes()
}

// CountDescendants returns the number of nodes below a node, children and deeper. It needs READ.
// The error is NoNode or NoAuth. For the empty path the root counts too.
func (s *Store) CountDescendants(path string, by Caller) (int32, proto.ErrCode) {
	n, err := s.tree.readable(path, by)
	switch {
	case err != proto.OK:
		return 0, err
	case path == "":
		return n.size.nodes, proto.OK
	}
	return n.size.nodes - 1, proto.OK
}

// ACL returns a node's ACL and stat. It needs READ or ADMIN; without ADMIN the
// hashes of digest entries are masked. The error is NoNode or NoAuth.
func (s *Store) ACL(path string, by Caller) ([]proto.ACL, proto.Stat, proto.ErrCode) {
	n, err := s.tree.lookUp(path)
	if err != proto.OK {
		return nil, proto.Stat{}, err
	}
	if !allowed(n.acl, proto.PermRead|proto.PermAdmin, by) {
		return nil, proto.Stat{}, proto.NoAuth
	}
	if !allowed(n.acl, proto.PermAdmin, by) {
		return masked(n.acl), n.stat(), proto.OK
	}
	return n.acl, n.stat(), proto.OK
}
