package refstore

import "fmt"

// EventType is the type field of a watch event (Watcher.Event.EventType).
type EventType int32

// The types of events.
const (
	NodeCreated         EventType = 1
	NodeDeleted         EventType = 2
	NodeDataChanged     EventType = 3
	NodeChildrenChanged EventType = 4
)

// String returns the name ZooKeeper gives the type.
func (t EventType) String() string {
	switch t {
	case NodeCreated:
		return "NodeCreated"
	case NodeDeleted:
		return "NodeDeleted"
	case NodeDataChanged:
		return "NodeDataChanged"
	case NodeChildrenChanged:
		return "NodeChildrenChanged"
	}
	return fmt.Sprintf("EventType(%d)", int32(t))
}

// Event is one notification. Zxid is the zxid of the change that fired it, or the last one when
// SetWatches found it missed; a 3.8 server does not send it, but it tells which events belong
// together.
type Event struct {
	Type EventType
	Path string
	Zxid int64
}

// watch is one session's one-shot wish to hear of a path. The path is kept as it was asked for: a
// watch on "" is answered for the root and never fires.
type watch struct {
	session int64
	path    string
}

// Events takes the events delivered to the session since the last call, in order.
func (s *Store) Events(session int64) []Event {
	list := s.events[session]
	delete(s.events, session)
	return list
}

// Disconnect drops the session's watches, as the end of its connection does. The session lives on.
func (s *Store) Disconnect(session int64) {
	for _, table := range []map[watch]bool{s.data, s.child} {
		for w := range table {
			if w.session == session {
				delete(table, w)
			}
		}
	}
}

// SetWatches restores watches after a reconnect. A watch fires at once if its znode has changed
// after zxid relative, as far as the server can tell: a znode deleted and made again shows as
// changed.
func (s *Store) SetWatches(session, relative int64, data, exist, child []string) Code {
	if !s.open[session] {
		return SessionExpired
	}
	for _, path := range data {
		n, ok := s.nodes[key(path)]
		s.rearm(s.data, session, path, !ok, n.mzxid > relative, NodeDataChanged)
	}
	for _, path := range exist {
		if _, ok := s.nodes[key(path)]; ok {
			s.deliver(session, NodeCreated, path)
		} else {
			s.data[watch{session, path}] = true
		}
	}
	for _, path := range child {
		n, ok := s.nodes[key(path)]
		s.rearm(s.child, session, path, !ok, n.pzxid > relative, NodeChildrenChanged)
	}
	return OK
}

func (s *Store) rearm(
	table map[watch]bool, session int64, path string, gone, changed bool, typ EventType,
) {
	switch {
	case gone:
		s.deliver(session, NodeDeleted, path)
	case changed:
		s.deliver(session, typ, path)
	default:
		table[watch{session, path}] = true
	}
}

func (s *Store) fireCreated(path, parent string) {
	s.fire(s.data, path, NodeCreated, s.nodes[path].acl, nil)
	s.fire(s.child, parent, NodeChildrenChanged, s.nodes[parent].acl, nil)
}

func (s *Store) fireChanged(path string) {
	s.fire(s.data, path, NodeDataChanged, s.nodes[path].acl, nil)
}

// fireDeleted tells a session that watches both the data and the children of the znode only once;
// its child watch is used up all the same (DataTree.deleteNode).
func (s *Store) fireDeleted(path string, acl []ACL, parent string) {
	told := s.fire(s.data, path, NodeDeleted, acl, nil)
	s.fire(s.child, path, NodeDeleted, acl, told)
	s.fire(s.child, parent, NodeChildrenChanged, s.nodes[parent].acl, nil)
}

// fire uses up the watches on the path and delivers the event, except to the sessions in told, and
// to sessions that the ACL does not let read (ZOOKEEPER-4799). It returns the sessions of the used
// watches. The order between sessions does not matter: each has its own list of events.
func (s *Store) fire(
	table map[watch]bool, path string, typ EventType, acl []ACL, told map[int64]bool,
) map[int64]bool {
	used := map[int64]bool{}
	for w := range table {
		if w.path != path {
			continue
		}
		delete(table, w)
		used[w.session] = true
		if !told[w.session] && allows(acl, PermRead) {
			s.deliver(w.session, typ, path)
		}
	}
	return used
}

func (s *Store) deliver(session int64, typ EventType, path string) {
	s.events[session] = append(s.events[session], Event{Type: typ, Path: path, Zxid: s.zxid})
}
