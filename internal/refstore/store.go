package refstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Store is one standalone server's znodes, sessions and watches. Create it with [NewStore]. It is
// not safe for concurrent use: it has one client, a test.
//
// Every request consumes a zxid if it writes, also if it is refused, and none if it reads. Opening
// and closing a session are writes.
type Store struct {
	zxid   int64
	nodes  map[string]node
	open   map[int64]bool
	data   map[watch]bool // set by Get and Exists
	child  map[watch]bool // set by Children
	events map[int64][]Event
}

// NewStore returns the store of a freshly started server: zxid 0, no session, and the four znodes
// every server has.
func NewStore() *Store {
	s := &Store{
		nodes: map[string]node{},
		open:  map[int64]bool{},
		data:  map[watch]bool{}, child: map[watch]bool{},
		events: map[int64][]Event{},
	}
	for _, path := range []string{"/", "/zookeeper", "/zookeeper/quota"} {
		s.nodes[path] = node{data: []byte{}, acl: World(PermAll)}
	}
	s.nodes["/zookeeper/config"] = node{data: []byte{}, acl: World(PermRead), aversion: -1}
	return s
}

// Zxid returns the last zxid handed out; the header of every reply carries it.
func (s *Store) Zxid() int64 { return s.zxid }

// Paths returns the paths of all znodes, sorted.
func (s *Store) Paths() []string { return slices.Sorted(maps.Keys(s.nodes)) }

// OpenSession starts the session under an id of the caller's choice. It panics if the session is
// open already: ids are never used twice.
func (s *Store) OpenSession(id int64) {
	if s.open[id] {
		panic(fmt.Sprintf("refstore: session 0x%x is open already", id))
	}
	s.zxid++
	s.open[id] = true
}

// CloseSession ends the session, whether its client asked or the server gave it up: all its
// ephemerals go in one transaction, whatever their ACLs say. The session's watches and undelivered
// events are forgotten.
func (s *Store) CloseSession(id int64) Code {
	if !s.open[id] {
		return SessionExpired
	}
	s.zxid++
	s.Disconnect(id)
	for _, path := range s.Ephemerals(id) {
		s.remove(path)
	}
	delete(s.open, id)
	delete(s.events, id)
	return OK
}

// Ephemerals returns the paths of the session's ephemerals, sorted.
func (s *Store) Ephemerals(id int64) []string {
	var paths []string
	for _, path := range s.Paths() {
		if s.nodes[path].owner == id {
			paths = append(paths, path)
		}
	}
	return paths
}

// childNames returns the names of the children, sorted, by looking at every znode there is.
func (s *Store) childNames(path string) []string {
	prefix := strings.TrimSuffix(path, "/") + "/"
	names := []string{}
	for _, p := range s.Paths() {
		name, below := strings.CutPrefix(p, prefix)
		if below && name != "" && !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names
}

// clone copies everything, so that a multi can be tried on the copy.
func (s *Store) clone() *Store {
	c := *s
	c.nodes = maps.Clone(s.nodes)
	c.open = maps.Clone(s.open)
	c.data, c.child = maps.Clone(s.data), maps.Clone(s.child)
	c.events = map[int64][]Event{}
	for id, list := range s.events {
		c.events[id] = slices.Clone(list)
	}
	return &c
}
