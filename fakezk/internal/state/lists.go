package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Ephemerals returns the paths of a session's ephemeral nodes in the order in which a
// real server lists them, and deletes them when the session ends: that of a clone of a
// Java hash set. It returns nil for an unknown session.
//
// Source: DataTree.getEphemerals.
func (s *Store) Ephemerals(id int64) []string {
	ses, ok := s.sessions[id]
	if !ok || ses.ephemerals.len() == 0 {
		return nil
	}
	return ses.ephemerals.clonedKeys()
}

// EphemeralBytes is the number of bytes that a list of a session's ephemeral nodes takes on the
// wire.
func (s *Store) EphemeralBytes(id int64) int {
	if ses, ok := s.sessions[id]; ok {
		return ses.ephemerals.listBytes()
	}
	return 0
}

// EphemeralCount is the number of a session's ephemeral nodes.
func (s *Store) EphemeralCount(id int64) int {
	if ses, ok := s.sessions[id]; ok {
		return ses.ephemerals.len()
	}
	return 0
}

// EphemeralsUnder returns the paths of [Store.Ephemerals] that start with prefix, even
// within a name: "/a" finds "/ab". A null, blank or root prefix finds all.
//
// Source: the case getEphemerals of FinalRequestProcessor.
func (s *Store) EphemeralsUnder(id int64, prefix string) []string {
	paths := s.Ephemerals(id)
	trimmed := strings.TrimFunc(prefix, javaBlank)
	if prefix == proto.NullPath || trimmed == "" || trimmed == "/" {
		return paths
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		return !strings.HasPrefix(path, prefix)
	})
}

// javaBlank reports whether String.trim removes a character.
func javaBlank(r rune) bool { return r <= ' ' }

// enlist adds the path of a new node to the set of its kind.
func (s *Store) enlist(t *Txn, path string, n *node) {
	if n.owner == 0 {
		s.reapable.add(path, n.kind)
		return
	}
	ses, ok := s.sessions[n.owner]
	if !ok {
		panic(fmt.Sprintf("state: zxid %#x (%s): no session %#x to own %q", t.Zxid, t.Op, n.owner,
			path))
	}
	if ses.ephemerals == nil {
		ses.ephemerals = newHashSet(pathsTable)
	}
	ses.ephemerals.put(&element{key: path})
}

// forget is the opposite of enlist.
func (s *Store) forget(path string, n *node) {
	if n.owner == 0 {
		s.reapable.remove(path, n.kind)
	} else if ses, ok := s.sessions[n.owner]; ok {
		ses.ephemerals.remove(path)
	}
}
