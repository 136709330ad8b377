package proto

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// OpCode is a request type, as ZooDefs.OpCode numbers it.
type OpCode int32

// The operations of ZooKeeper 3.8.
const (
	OpNotification         OpCode = 0
	OpCreate               OpCode = 1
	OpDelete               OpCode = 2
	OpExists               OpCode = 3
	OpGetData              OpCode = 4
	OpSetData              OpCode = 5
	OpGetACL               OpCode = 6
	OpSetACL               OpCode = 7
	OpGetChildren          OpCode = 8
	OpSync                 OpCode = 9
	OpPing                 OpCode = 11
	OpGetChildren2         OpCode = 12
	OpCheck                OpCode = 13
	OpMulti                OpCode = 14
	OpCreate2              OpCode = 15
	OpReconfig             OpCode = 16
	OpCheckWatches         OpCode = 17
	OpRemoveWatches        OpCode = 18
	OpCreateContainer      OpCode = 19
	OpDeleteContainer      OpCode = 20
	OpCreateTTL            OpCode = 21
	OpMultiRead            OpCode = 22
	OpAuth                 OpCode = 100
	OpSetWatches           OpCode = 101
	OpSasl                 OpCode = 102
	OpGetEphemerals        OpCode = 103
	OpGetAllChildrenNumber OpCode = 104
	OpSetWatches2          OpCode = 105
	OpAddWatch             OpCode = 106
	OpWhoAmI               OpCode = 107
	OpCreateSession        OpCode = -10
	OpCloseSession         OpCode = -11
	OpError                OpCode = -1
)

var opNames = map[OpCode]string{
	OpNotification: "notification", OpCreate: "create", OpDelete: "delete", OpExists: "exists",
	OpGetData: "getData", OpSetData: "setData", OpGetACL: "getACL", OpSetACL: "setACL",
	OpGetChildren: "getChildren", OpSync: "sync", OpPing: "ping", OpGetChildren2: "getChildren2",
	OpCheck: "check", OpMulti: "multi", OpCreate2: "create2", OpReconfig: "reconfig",
	OpCheckWatches: "checkWatches", OpRemoveWatches: "removeWatches",
	OpCreateContainer: "createContainer", OpDeleteContainer: "deleteContainer",
	OpCreateTTL: "createTTL", OpMultiRead: "multiRead",
	OpAuth: "auth", OpSetWatches: "setWatches", OpSasl: "sasl", OpGetEphemerals: "getEphemerals",
	OpGetAllChildrenNumber: "getAllChildrenNumber", OpSetWatches2: "setWatches2",
	OpAddWatch: "addWatch", OpWhoAmI: "whoAmI", OpCreateSession: "createSession",
	OpCloseSession: "closeSession", OpError: "error",
}

// String is the name that ZooKeeper's documentation uses, or "op(N)".
func (o OpCode) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return fmt.Sprintf("op(%d)", int32(o))
}

// IsWrite reports whether an operation is a write. A write consumes a zxid, even if it is refused
// or malformed.
func (o OpCode) IsWrite() bool {
	switch o {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpSetData, OpSetACL,
		OpCheck, OpMulti, OpDeleteContainer, OpReconfig:
		return true
	}
	return false
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

// The error codes that a 3.8 server sends.
const (
	OK                      ErrCode = 0
	SystemError             ErrCode = -1
	RuntimeInconsistency    ErrCode = -2
	MarshallingError        ErrCode = -5
	Unimplemented           ErrCode = -6
	OperationTimeout        ErrCode = -7
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
	SessionMoved            ErrCode = -118
	NotReadOnly             ErrCode = -119
	NoWatcher               ErrCode = -121
	ReconfigDisabled        ErrCode = -123
	QuotaExceeded           ErrCode = -125
	ThrottledOp             ErrCode = -127
)

var errNames = map[ErrCode]string{
	OK: "ok", SystemError: "SystemError", RuntimeInconsistency: "RuntimeInconsistency",
	MarshallingError: "MarshallingError", Unimplemented: "Unimplemented",
	OperationTimeout: "OperationTimeout",
	BadArguments:     "BadArguments", NoNode: "NoNode", NoAuth: "NoAuth", BadVersion: "BadVersion",
	NoChildrenForEphemerals: "NoChildrenForEphemerals", NodeExists: "NodeExists",
	NotEmpty: "NotEmpty", SessionExpired: "SessionExpired", InvalidACL: "InvalidACL",
	AuthFailed: "AuthFailed", SessionMoved: "SessionMoved", NotReadOnly: "NotReadOnly",
	NoWatcher: "NoWatcher", ReconfigDisabled: "ReconfigDisabled",
	QuotaExceeded: "QuotaExceeded", ThrottledOp: "ThrottledOp",
}

// Errors lists the codes that mean an error, from the greatest number to the least.
func Errors() []ErrCode {
	codes := slices.DeleteFunc(slices.Collect(maps.Keys(errNames)),
		func(c ErrCode) bool { return c == OK })
	slices.SortFunc(codes, func(a, b ErrCode) int { return cmp.Compare(b, a) })
	return codes
}

// ErrorNamed is the error with a name. It is OK, which is no error, if there is none.
func ErrorNamed(name string) ErrCode {
	for code, known := range errNames {
		if known == name {
			return code
		}
	}
	return OK
}

// String is the name of the code without its prefix, "ok" for success, or "err(N)".
func (c ErrCode) String() string {
	if name, ok := errNames[c]; ok {
		return name
	}
	return fmt.Sprintf("err(%d)", int32(c))
}
