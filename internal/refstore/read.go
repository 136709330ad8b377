package refstore

import (
	"bytes"
	"strings"
)

// Exists returns the Stat of the znode. With setWatch it leaves a data watch, also on a path where
// nothing is.
func (s *Store) Exists(session int64, path string, setWatch bool) (Stat, Code) {
	if !s.open[session] {
		return Stat{}, SessionExpired
	}
	if strings.Contains(path, "\x00") {
		return Stat{}, BadArguments
	}
	if setWatch {
		s.data[watch{session, path}] = true
	}
	if _, ok := s.nodes[key(path)]; !ok {
		return Stat{}, NoNode
	}
	return s.stat(key(path)), OK
}

// Get returns a copy of the data and the Stat of the znode. With setWatch it leaves a data watch,
// unless it fails.
func (s *Store) Get(session int64, path string, setWatch bool) ([]byte, Stat, Code) {
	n, code := s.read(session, path, PermRead)
	if code != OK {
		return nil, Stat{}, code
	}
	if setWatch {
		s.data[watch{session, path}] = true
	}
	return bytes.Clone(n.data), s.stat(key(path)), OK
}

// Children returns the sorted names of the children and the Stat of the znode. With setWatch it
// leaves a child watch, unless it fails.
func (s *Store) Children(session int64, path string, setWatch bool) ([]string, Stat, Code) {
	if _, code := s.read(session, path, PermRead); code != OK {
		return nil, Stat{}, code
	}
	if setWatch {
		s.child[watch{session, path}] = true
	}
	return s.childNames(key(path)), s.stat(key(path)), OK
}

// read finds a znode for a request that needs one of the permissions. Reads do not validate paths:
// a bad one is simply not there.
func (s *Store) read(session int64, path string, perms int32) (node, Code) {
	n, ok := s.nodes[key(path)]
	switch {
	case !s.open[session]:
		return node{}, SessionExpired
	case !ok:
		return node{}, NoNode
	case !allows(n.acl, perms):
		return node{}, NoAuth
	}
	return n, OK
}
