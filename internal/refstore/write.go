package refstore

import (
	"bytes"
	"fmt"
)

// Create makes a znode readable and writable by all; see [Store.CreateACL].
func (s *Store) Create(session int64, path string, data []byte, mode Mode) (string, Stat, Code) {
	return s.CreateACL(session, path, data, mode, World(PermAll))
}

// CreateACL makes a znode and returns its path, which for the sequential modes ends in the number
// the server chose, and its Stat.
func (s *Store) CreateACL(
	session int64, path string, data []byte, mode Mode, acl []ACL,
) (string, Stat, Code) {
	r, code := s.one(session, Op{Kind: OpCreate, Path: path, Data: data, Mode: mode, ACL: acl})
	return r.Path, r.Stat, code
}

// Delete removes a znode without children, if version is its own or -1.
func (s *Store) Delete(session int64, path string, version int32) Code {
	_, code := s.one(session, Op{Kind: OpDelete, Path: path, Version: version})
	return code
}

// Set replaces the data of a znode, if version is its own or -1. Equal data is a change too.
func (s *Store) Set(session int64, path string, data []byte, version int32) (Stat, Code) {
	r, code := s.one(session, Op{Kind: OpSet, Path: path, Data: data, Version: version})
	return r.Stat, code
}

// one is a single write: it takes its zxid before anything can refuse it.
func (s *Store) one(session int64, op Op) (Result, Code) {
	if !s.open[session] {
		return Result{}, SessionExpired
	}
	s.zxid++
	r := s.apply(session, op)
	return r, r.Code
}

// apply does one write at the current zxid, or nothing if it is refused.
func (s *Store) apply(session int64, op Op) Result {
	switch op.Kind {
	case OpCreate:
		return s.create(session, op)
	case OpDelete:
		return s.delete(op)
	case OpSet:
		return s.set(op)
	case OpCheck:
		return s.check(op)
	}
	panic(fmt.Sprintf("refstore: no such operation: %d", op.Kind))
}

// create checks in the order of PrepRequestProcessor.pRequest2TxnCreate, which decides the error
// when several apply. The number is added before the path is validated, so "/a/" is a fine name for
// a sequential create.
func (s *Store) create(session int64, op Op) Result {
	if op.Mode < Persistent || op.Mode > EphemeralSequential || !splittable(op.Path) {
		return Result{Code: BadArguments}
	}
	acl, code := fixACL(op.ACL)
	if code != OK {
		return Result{Code: code}
	}
	parent, path := key(parentPath(op.Path)), op.Path
	p, ok := s.nodes[parent]
	switch {
	case !ok:
		return Result{Code: NoNode}
	case !allows(p.acl, PermCreate):
		return Result{Code: NoAuth}
	}
	if op.Mode.sequential() {
		path += fmt.Sprintf("%010d", p.creates)
	}
	_, exists := s.nodes[path]
	switch {
	case !valid(path):
		return Result{Code: BadArguments}
	case exists:
		return Result{Code: NodeExists}
	case p.owner != 0:
		return Result{Code: NoChildrenForEphemerals}
	}
	n := node{data: bytes.Clone(op.Data), acl: acl, czxid: s.zxid, mzxid: s.zxid, pzxid: s.zxid}
	if op.Mode.ephemeral() {
		n.owner = session
	}
	s.nodes[path] = n
	p.creates++
	p.pzxid = s.zxid
	s.nodes[parent] = p
	s.fireCreated(path, parent)
	return Result{Path: path, Stat: s.stat(path)}
}

// delete checks in the order of PrepRequestProcessor for OpCode.delete. The permission is the
// parent's; the znode's own ACL does not matter.
func (s *Store) delete(op Op) Result {
	if !splittable(op.Path) || special(op.Path) {
		return Result{Code: BadArguments}
	}
	p, ok := s.nodes[key(parentPath(op.Path))]
	switch {
	case !ok:
		return Result{Code: NoNode}
	case !allows(p.acl, PermDelete):
		return Result{Code: NoAuth}
	}
	n, ok := s.nodes[op.Path]
	switch {
	case !ok:
		return Result{Code: NoNode}
	case op.Version != -1 && op.Version != n.version:
		return Result{Code: BadVersion}
	case len(s.childNames(op.Path)) > 0:
		return Result{Code: NotEmpty}
	}
	s.remove(op.Path)
	return Result{}
}

// remove takes a znode away at the current zxid, unconditionally.
func (s *Store) remove(path string) {
	gone, parent := s.nodes[path], key(parentPath(path))
	delete(s.nodes, path)
	p := s.nodes[parent]
	p.pzxid = s.zxid
	s.nodes[parent] = p
	s.fireDeleted(path, gone.acl, parent)
}

func (s *Store) set(op Op) Result {
	n, code := s.versioned(op, PermWrite)
	if code != OK {
		return Result{Code: code}
	}
	n.data = bytes.Clone(op.Data)
	n.version++
	n.mzxid = s.zxid
	s.nodes[op.Path] = n
	s.fireChanged(op.Path)
	return Result{Stat: s.stat(op.Path)}
}

func (s *Store) check(op Op) Result {
	_, code := s.versioned(op, PermRead)
	return Result{Code: code}
}

// versioned finds the znode of a request that names a version.
func (s *Store) versioned(op Op, perm int32) (node, Code) {
	n, ok := s.nodes[op.Path]
	switch {
	case !valid(op.Path):
		return node{}, BadArguments
	case !ok:
		return node{}, NoNode
	case !allows(n.acl, perm):
		return node{}, NoAuth
	case op.Version != -1 && op.Version != n.version:
		return node{}, BadVersion
	}
	return n, OK
}
