package view

import (
	"fmt"
	"time"
)

// Node is a znode as Tree shows it.
type Node struct {
	Path string
	// Data is nil if the node was created with null data.
	Data []byte
	// Kind is PersistentNode, EphemeralNode, ContainerNode or TTLNode.
	Kind NodeKind
	// TTL is the TTL of a TTLNode, else 0.
	TTL time.Duration
	// ACL is nil for the usual list, that permits everything to all clients.
	ACL []ACL
	// Owner is the session that owns an ephemeral node, else 0.
	Owner int64
	// Czxid and Mzxid are the transactions that created and last changed it.
	Czxid, Mzxid int64
	Version      int32
	NumChildren  int
}

// Session is a session as Sessions shows it.
type Session struct {
	ID int64
	// Name is S1 for the first session that was created on the server, S2 for the second and so on.
	// It selects the session as the Client of a Fault. It is empty in the Result of a World, where
	// faults select clients by their own names.
	Name string
	// Timeout is the negotiated session timeout.
	Timeout time.Duration
	// Connected says that it has a connection now.
	Connected bool
	// Ephemerals are the paths of the nodes that go when it ends, sorted.
	Ephemerals []string
}

// Watch is a registered watch as Watches shows it.
type Watch struct {
	Path string
	// Children says that it waits for changes of the list of children, not of the node itself.
	Children bool
	// Mode tells whether it stays after it fires. Watches of addWatch are shown twice, with and
	// without Children.
	Mode WatchMode
	// Session is the watcher's.
	Session int64
}

// WatchMode tells whether a watch stays after it fires.
type WatchMode int

// The modes of watches.
const (
	// OneShotWatch is gone when it fires.
	OneShotWatch WatchMode = iota
	// PersistentWatch stays. It is left by addWatch.
	PersistentWatch
	// RecursiveWatch stays, and stands for a node and all below it.
	RecursiveWatch
)

// String is the mode as ZooKeeper's WatcherMode calls it, in lower case:
// standard, persistent or persistent-recursive.
func (m WatchMode) String() string {
	return [...]string{"standard", "persistent", "persistent-recursive"}[m]
}

// NodeSpec is a znode as a value, without the fields of a single run: times, zxids and versions.
// Snapshot returns them, Load makes them.
type NodeSpec struct {
	Path string
	// Data is nil for null data, which a client can tell from empty data.
	Data []byte
	// ACL is never empty in a snapshot. In Load, an empty one means that all clients may do
	// everything.
	ACL []ACL
	// Kind is PersistentNode, ContainerNode or TTLNode.
	Kind NodeKind
	// TTL is the TTL of a TTLNode, in whole milliseconds, else 0.
	TTL time.Duration
	// Next is the number that the next sequential child gets, which is also how many children have
	// ever been created, 0 or more. Load takes a smaller number than that of the children it makes,
	// such as 0, for that number. A node's cversion follows from it: it counts the deletions too.
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

// String is the kind in one lower-case word, or "kind 77" for an unknown one.
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
