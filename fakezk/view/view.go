package view

import (
	"fmt"
	"strings"
	"time"
)

// Nodes are znodes, printed one a line.
type Nodes []Node

func (list Nodes) String() string {
	var lines strings.Builder
	for _, n := range list {
		lines.WriteString(n.String() + "\n")
	}
	return lines.String()
}

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

// String is the node in one line, as in: /locks/a ephemeral of 0x1 version 0 "data". Data of more
// than 60 bytes is cut.
func (n Node) String() string {
	text := fmt.Sprintf("%s %s", n.Path, n.Kind)
	switch n.Kind {
	case EphemeralNode:
		text += fmt.Sprintf(" of 0x%x", uint64(n.Owner))
	case TTLNode:
		text += " " + n.TTL.String()
	}
	return fmt.Sprintf("%s version %d %s", text, n.Version, dataText(n.Data))
}

// dataText is data in quotes, cut if it is long, or null.
func dataText(data []byte) string {
	const longest = 60
	switch {
	case data == nil:
		return "null"
	case len(data) > longest:
		return fmt.Sprintf("%q... (%d bytes)", data[:longest], len(data))
	}
	return fmt.Sprintf("%q", data)
}

// Session is a session as Sessions shows it.
type Session struct {
	ID int64
	// Name is S1 for the first session that was created on the server, S2 for the second and so on,
	// or the name of DialerAs.
	// It selects the session as the Client of a Fault. It is empty in the Result of a World, where
	// faults select clients by their own names.
	Name string
	// Timeout is the negotiated session timeout.
	Timeout time.Duration
	// Connected says that it has a connection now, to Server, which counts from 1.
	Connected bool
	Server    int
	// Ephemerals are the paths of the nodes that go when it ends, sorted.
	Ephemerals []string
}

// String is the session in one line, as in: S1 0x1 timeout 10s connected, owns [/locks/a].
func (s Session) String() string {
	connected := "connected"
	if !s.Connected {
		connected = "not connected"
	}
	text := fmt.Sprintf("0x%x timeout %s %s", uint64(s.ID), s.Timeout, connected)
	if s.Name != "" {
		text = s.Name + " " + text
	}
	if len(s.Ephemerals) > 0 {
		text += fmt.Sprintf(", owns %v", s.Ephemerals)
	}
	return text
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

// String is the watch in one line, as in: /locks children, standard, of 0x1.
func (w Watch) String() string {
	what := "node"
	if w.Children {
		what = "children"
	}
	return fmt.Sprintf("%s %s, %s, of 0x%x", w.Path, what, w.Mode, uint64(w.Session))
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
	// Next is the number that the next sequential child gets, 0 or more: the number of children
	// that were ever created. If it is smaller than the number of children that Load makes, such as
	// 0, Load takes their number. It decides the node's cversion, which counts the deletions, too.
	Next int32
}

// NodeKind is the kind of a node. It decides when the server deletes the node.
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
