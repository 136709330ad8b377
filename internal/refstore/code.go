package refstore

import "fmt"

// Code is the error field of a reply header. The numbers are ZooKeeper's own
// (org.apache.zookeeper.KeeperException.Code).
type Code int32

// The codes a [Store] answers with.
const (
	OK                      Code = 0
	RuntimeInconsistency    Code = -2 // an operation of a multi after the one that failed
	BadArguments            Code = -8
	NoNode                  Code = -101
	NoAuth                  Code = -102
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
	SessionExpired          Code = -112
	InvalidACL              Code = -114
)

var codeNames = map[Code]string{
	OK:                      "ok",
	RuntimeInconsistency:    "runtime inconsistency",
	BadArguments:            "bad arguments",
	NoNode:                  "no node",
	NoAuth:                  "no auth",
	BadVersion:              "bad version",
	NoChildrenForEphemerals: "no children for ephemerals",
	NodeExists:              "node exists",
	NotEmpty:                "not empty",
	SessionExpired:          "session expired",
	InvalidACL:              "invalid acl",
}

// String returns the name of the code, or its number if it has none here.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("code %d", int32(c))
}
