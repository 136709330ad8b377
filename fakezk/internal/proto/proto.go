// Package proto holds the messages of the ZooKeeper protocol as plain values:
// operation codes, error codes, stats, ACLs, events, requests and replies.
//
// Package wire encodes and decodes these values; packages state and engine give
// them their meaning. This package has no behaviour beyond names.
//
// Source: zookeeper.jute, ZooDefs.java and KeeperException.java of ZooKeeper 3.8.
package proto

import "fmt"

// EventType is the type field of a watch notification.
type EventType int32

// The four node events.
const (
	EventCreated         EventType = 1
	EventDeleted         EventType = 2
	EventDataChanged     EventType = 3
	EventChildrenChanged EventType = 4
)

// String is the name of the event in ZooKeeper's guide.
func (t EventType) String() string {
	switch t {
	case EventCreated:
		return "NodeCreated"
	case EventDeleted:
		return "NodeDeleted"
	case EventDataChanged:
		return "NodeDataChanged"
	case EventChildrenChanged:
		return "NodeChildrenChanged"
	}
	return fmt.Sprintf("event(%d)", int32(t))
}

// Create flags, as CreateMode numbers them.
const (
	FlagPersistent              int32 = 0
	FlagEphemeral               int32 = 1
	FlagPersistentSequential    int32 = 2
	FlagEphemeralSequential     int32 = 3
	FlagContainer               int32 = 4
	FlagTTL                     int32 = 5
	FlagPersistentSequentialTTL int32 = 6
)

// Modes of addWatch, as AddWatchMode numbers them.
const (
	WatchPersistent          int32 = 0
	WatchPersistentRecursive int32 = 1
)

// The kinds of watches in checkWatches and removeWatches, as WatcherType numbers them.
const (
	WatcherChildren int32 = 1
	WatcherData     int32 = 2
	WatcherAny      int32 = 3
)

// Null stands for a path, or the id of an ACL entry, that is null on the wire. The
// server does not treat null like the empty string. Null is not valid UTF-8, so it
// differs from every decoded string.
const Null = "\xff(null)"

// NullPath is Null as a path.
const NullPath = Null

// ACL permission bits.
const (
	PermRead   int32 = 1
	PermWrite  int32 = 2
	PermCreate int32 = 4
	PermDelete int32 = 8
	PermAdmin  int32 = 16
	PermAll    int32 = 31
)

// Stat is the metadata of a znode. Times are milliseconds since the Unix epoch.
type Stat struct {
	Czxid, Mzxid                int64
	Ctime, Mtime                int64
	Version, Cversion, Aversion int32
	EphemeralOwner              int64
	DataLength, NumChildren     int32
	Pzxid                       int64
}

// ACL is one entry of an access control list.
type ACL struct {
	Perms      int32
	Scheme, ID string
}

// ID is an identity of a connection: one that it proved with auth, or its address (scheme "ip").
type ID struct{ Scheme, ID string }

// RequestHeader precedes every request but the first of a connection.
type RequestHeader struct {
	Xid int32
	Op  OpCode
}

// ReplyHeader precedes every reply but the first of a connection.
type ReplyHeader struct {
	Xid  int32
	Zxid int64
	Err  ErrCode
}

// ConnectRequest is the first frame of a connection. HasReadOnly says whether it
// had the optional readOnly byte; the response has the byte only then.
type ConnectRequest struct {
	ProtocolVersion       int32
	LastZxidSeen          int64
	TimeoutMs             int32
	SessionID             int64
	Password              []byte
	HasReadOnly, ReadOnly bool
}

// ConnectResponse answers a ConnectRequest. SessionID is 0 if the session is refused.
type ConnectResponse struct {
	ProtocolVersion       int32
	TimeoutMs             int32
	SessionID             int64
	Password              []byte
	HasReadOnly, ReadOnly bool
}

// WatcherEvent is the body of a notification.
type WatcherEvent struct {
	Type  EventType
	State int32
	Path  string
}
