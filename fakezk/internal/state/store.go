package state

import (
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A Store is one replica's data: the znodes, the sessions and the zxid of the
// last applied Txn. Make one with [New].
type Store struct {
	nodes    map[string]*node
	sessions map[int64]*session
	last     int64
}

// SessionInfo is what a replica knows of a session.
type SessionInfo struct {
	ID        int64
	Password  [16]byte
	TimeoutMs int32
}

type session struct {
	info       SessionInfo
	ephemerals map[string]struct{}
}

// New returns the store of a server that has never served: zxid 0 and the
// nodes "/", "/zookeeper", "/zookeeper/config" and "/zookeeper/quota".
func New() *Store {
	s := &Store{nodes: map[string]*node{}, sessions: map[int64]*session{}}
	root := &node{name: "/", acl: openACL, data: []byte{}}
	s.nodes["/"] = root
	system := s.plant(root, "/zookeeper", openACL)
	config := s.plant(system, "/zookeeper/config", configACL)
	config.aversion = -1
	s.plant(system, "/zookeeper/quota", openACL)
	return s
}

var (
	openACL   = []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	configACL = []proto.ACL{{Perms: proto.PermRead, Scheme: "world", ID: "anyone"}}
)

// plant adds a node that no transaction made: its parent's counter stays.
func (s *Store) plant(parent *node, path string, acl []proto.ACL) *node {
	n := &node{acl: acl, data: []byte{}}
	s.insert(parent, path, n)
	return n
}

// LastZxid is the zxid of the last applied Txn, 0 on a fresh store.
func (s *Store) LastZxid() int64 { return s.last }

// NodeCount is the number of znodes, "/" and the system's nodes included.
func (s *Store) NodeCount() int { return len(s.nodes) }

// Session returns what is known of a session, and whether there is one.
func (s *Store) Session(id int64) (SessionInfo, bool) {
	ses, ok := s.sessions[id]
	if !ok {
		return SessionInfo{}, false
	}
	return ses.info, true
}

// Sessions returns all sessions in the order of their ids.
func (s *Store) Sessions() []SessionInfo {
	infos := make([]SessionInfo, 0, len(s.sessions))
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		infos = append(infos, s.sessions[id].info)
	}
	return infos
}

// Ephemerals returns the paths of a session's ephemeral nodes, sorted; none for
// an unknown session.
func (s *Store) Ephemerals(id int64) []string {
	ses, ok := s.sessions[id]
	if !ok {
		return nil
	}
	return slices.Sorted(maps.Keys(ses.ephemerals))
}

// Clone returns an independent copy, with children in the same order. Data and
// ACL slices, which nobody writes to, are shared.
func (s *Store) Clone() *Store {
	c := &Store{
		nodes:    make(map[string]*node, len(s.nodes)),
		sessions: make(map[int64]*session, len(s.sessions)),
		last:     s.last,
	}
	root := s.nodes["/"]
	copied := root.bare()
	c.nodes["/"] = copied
	c.cloneChildren("", root, copied)
	for id, ses := range s.sessions {
		c.sessions[id] = &session{info: ses.info, ephemerals: maps.Clone(ses.ephemerals)}
	}
	return c
}

func (s *Store) cloneChildren(path string, from, to *node) {
	for child := from.first; child != nil; child = child.next {
		copied := child.bare()
		childPath := path + "/" + child.name
		s.insert(to, childPath, copied)
		s.cloneChildren(childPath, child, copied)
	}
}
