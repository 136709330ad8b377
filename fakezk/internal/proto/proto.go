// Package proto holds the words of the ZooKeeper protocol as plain values:
// operation codes, error codes, stats, ACLs, events, requests and results.
//
// It is the vocabulary shared by package wire, which turns these values into
// bytes and back, and package state, which gives them their meaning. It holds
// no behaviour beyond names.
//
// Source: zookeeper.jute, ZooDefs.java and KeeperException.java of ZooKeeper 3.8.
package proto

import "fmt"

// OpCode is a request type, as ZooDefs.OpCode numbers it.
type OpCode int32

// The operations of ZooKeeper 3.8.
const (
	OpNotification    OpCode = 0
	OpCreate          OpCode = 1
	OpDelete          OpCode = 2
	OpExists          OpCode = 3
	OpGetData         OpCode = 4
	OpSetData         OpCode = 5
	OpGetACL          OpCode = 6
	OpSetACL          OpCode = 7
	OpGetChildren     OpCode = 8
	OpSync            OpCode = 9
	OpPing            OpCode = 11
	OpGetChildren2    OpCode = 12
	OpCheck           OpCode = 13
	OpMulti           OpCode = 14
	OpCreate2         OpCode = 15
	OpReconfig        OpCode = 16
	OpRemoveWatches   OpCode = 18
	OpCreateContainer OpCode = 19
	OpDeleteContainer OpCode = 20
	OpCreateTTL       OpCode = 21
	OpMultiRead       OpCode = 22
	OpAuth            OpCode = 100
	OpSetWatches      OpCode = 101
	OpCreateSession   OpCode = -10
	OpCloseSession    OpCode = -11
	OpError           OpCode = -1
)

var opNames = map[OpCode]string{
	OpNotification: "notification", OpCreate: "create", OpDelete: "delete", OpExists: "exists",
	OpGetData: "getData", OpSetData: "setData", OpGetACL: "getACL", OpSetACL: "setACL",
	OpGetChildren: "getChildren", OpSync: "sync", OpPing: "ping", OpGetChildren2: "getChildren2",
	OpCheck: "check", OpMulti: "multi", OpCreate2: "create2", OpReconfig: "reconfig",
	OpRemoveWatches: "removeWatches", OpCreateContainer: "createContainer",
	OpDeleteContainer: "deleteContainer", OpCreateTTL: "createTTL", OpMultiRead: "multiRead",
	OpAuth: "auth", OpSetWatches: "setWatches", OpCreateSession: "createSession",
	OpCloseSession: "closeSession", OpError: "error",
}

// String is the name that ZooKeeper's documentation uses, or "op(N)".
func (o OpCode) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return fmt.Sprintf("op(%d)", int32(o))
}

// IsOp reports whether an operation has this name.
func IsOp(name string) bool {
	for _, known := range opNames {
		if known == name {
			return true
		}
	}
	return false
}

// ErrCode is the err field of a reply, as KeeperException.Code numbers it.
// The zero value, OK, means success.
type ErrCode int32

// The error codes that a standalone 3.8 server sends.
const (
	OK                      ErrCode = 0
	SystemError             ErrCode = -1
	RuntimeInconsistency    ErrCode = -2
	MarshallingError        ErrCode = -5
	Unimplemented           ErrCode = -6
	BadArguments            ErrCode = -8
	NoNode                  ErrCode = -101
	NoAuth                  ErrCode = -102
	BadVersion              ErrCode = -103
	NoChildrenForEphemerals ErrCode = -108
	NodeExists              ErrCode = -110
	NotEmpty                ErrCode = -111
	SessionExpired          ErrCode = -112
	InvalidACL              ErrCode = -114
	AuthFailed              ErrCode = -115
	NoWatcher               ErrCode = -121
	ReconfigDisabled        ErrCode = -123
)

var errNames = map[ErrCode]string{
	OK: "ok", SystemError: "SystemError", RuntimeInconsistency: "RuntimeInconsistency",
	MarshallingError: "MarshallingError", Unimplemented: "Unimplemented",
	BadArguments: "BadArguments", NoNode: "NoNode", NoAuth: "NoAuth", BadVersion: "BadVersion",
	NoChildrenForEphemerals: "NoChildrenForEphemerals", NodeExists: "NodeExists",
	NotEmpty: "NotEmpty", SessionExpired: "SessionExpired", InvalidACL: "InvalidACL",
	AuthFailed: "AuthFailed", NoWatcher: "NoWatcher", ReconfigDisabled: "ReconfigDisabled",
}

// String is the name of the code without its prefix, "ok" for success, or "err(N)".
func (c ErrCode) String() string {
	if name, ok := errNames[c]; ok {
		return name
	}
	return fmt.Sprintf("err(%d)", int32(c))
}

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

// ID is an identity that a connection has proved, or simply has (scheme "ip").
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

// ConnectRequest is the first frame of a connection. HasReadOnly says whether
// the optional readOnly byte was present; only then the response has one.
type ConnectRequest struct {
	ProtocolVersion       int32
	LastZxidSeen          int64
	TimeoutMs             int32
	SessionID             int64
	Password              []byte
	HasReadOnly, ReadOnly bool
}

// ConnectResponse answers a ConnectRequest. A zero SessionID means refused.
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

// A Request is the decoded body of a request: one of the pointer types below.
type Request interface{ Op() OpCode }

type (
	// Create is create, create2, createContainer or createTTL. TTL, in
	// milliseconds, counts for createTTL only.
	Create struct {
		Code  OpCode
		Path  string
		Data  []byte
		ACL   []ACL
		Flags int32
		TTL   int64
	}
	// Delete removes a childless node. Version -1 matches any.
	Delete struct {
		Path    string
		Version int32
	}
	// Exists, GetData, GetChildren may leave a watch.
	Exists struct {
		Path  string
		Watch bool
	}
	// GetData reads a node's data and stat.
	GetData struct {
		Path  string
		Watch bool
	}
	// GetChildren is getChildren (names) or getChildren2 (names and stat).
	GetChildren struct {
		Code  OpCode
		Path  string
		Watch bool
	}
	// SetData replaces a node's data. Version -1 matches any.
	SetData struct {
		Path    string
		Data    []byte
		Version int32
	}
	// GetACL reads a node's ACL.
	GetACL struct{ Path string }
	// SetACL replaces a node's ACL; Version is that of the ACL (aversion).
	SetACL struct {
		Path    string
		ACL     []ACL
		Version int32
	}
	// Sync waits until the server has caught up with the leader.
	Sync struct{ Path string }
	// Check succeeds if the node's version matches.
	Check struct {
		Path    string
		Version int32
	}
	// Multi applies all its operations or none.
	Multi struct{ Ops []Request }
	// Auth adds an identity to the connection.
	Auth struct {
		Type   int32
		Scheme string
		Data   []byte
	}
	// SetWatches registers watches again after a reconnect; what changed
	// after RelativeZxid fires at once.
	SetWatches struct {
		RelativeZxid                            int64
		DataWatches, ExistWatches, ChildWatches []string
	}
	// Reconfig changes the members of an ensemble.
	Reconfig struct {
		Joining, Leaving, NewMembers string
		CurConfigID                  int64
	}
	// Simple is a request without a body that matters: ping, closeSession.
	Simple struct{ Code OpCode }
)

// Op is the operation code of the request.
func (r *Create) Op() OpCode      { return r.Code }
func (r *Delete) Op() OpCode      { return OpDelete }
func (r *Exists) Op() OpCode      { return OpExists }
func (r *GetData) Op() OpCode     { return OpGetData }
func (r *GetChildren) Op() OpCode { return r.Code }
func (r *SetData) Op() OpCode     { return OpSetData }
func (r *GetACL) Op() OpCode      { return OpGetACL }
func (r *SetACL) Op() OpCode      { return OpSetACL }
func (r *Sync) Op() OpCode        { return OpSync }
func (r *Check) Op() OpCode       { return OpCheck }
func (r *Multi) Op() OpCode       { return OpMulti }
func (r *Auth) Op() OpCode        { return OpAuth }
func (r *SetWatches) Op() OpCode  { return OpSetWatches }
func (r *Reconfig) Op() OpCode    { return OpReconfig }
func (r *Simple) Op() OpCode      { return r.Code }

// A Reply is the decoded body of a successful reply.
type Reply interface{ isReply() }

type (
	// PathReply answers create and sync.
	PathReply struct{ Path string }
	// PathStatReply answers create2, createContainer and createTTL.
	PathStatReply struct {
		Path string
		Stat Stat
	}
	// StatReply answers exists, setData and setACL.
	StatReply struct{ Stat Stat }
	// DataReply answers getData. Nil data is told apart from empty data.
	DataReply struct {
		Data []byte
		Stat Stat
	}
	// ChildrenReply answers getChildren.
	ChildrenReply struct{ Names []string }
	// ChildrenStatReply answers getChildren2.
	ChildrenStatReply struct {
		Names []string
		Stat  Stat
	}
	// ACLReply answers getACL.
	ACLReply struct {
		ACL  []ACL
		Stat Stat
	}
	// MultiReply answers multi, op by op, also when the multi failed.
	MultiReply struct{ Results []OpResult }
)

// OpResult is one operation's part of a MultiReply: Err, or the reply of the
// operation, which is nil for delete and check.
type OpResult struct {
	Op    OpCode
	Err   ErrCode
	Reply Reply
}

func (PathReply) isReply()         {}
func (PathStatReply) isReply()     {}
func (StatReply) isReply()         {}
func (DataReply) isReply()         {}
func (ChildrenReply) isReply()     {}
func (ChildrenStatReply) isReply() {}
func (ACLReply) isReply()          {}
func (MultiReply) isReply()        {}
