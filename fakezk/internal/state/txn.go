package state

import "github.com/zksim/zksim/fakezk/internal/proto"

// A Txn is one entry of the log: the decided effect of one write request. It is plain
// data and shares slices with the request.
type Txn struct {
	Zxid    int64
	Time    int64 // ms since the Unix epoch
	Session int64 // sender of the request
	Op      proto.OpCode

	// Err is the error of a refused request, which changes nothing. A refused multi
	// has the error of the operation that failed.
	Err proto.ErrCode

	// Skipped says that the server failed before it made a transaction of the
	// request: the Zxid is consumed, but it is neither applied nor shown, and
	// replies show the zxid before it. A log may leave such a Txn out.
	Skipped bool

	// OpErrs is the outcome of each operation of a refused multi: OK for those
	// before the failed one, RuntimeInconsistency for those behind it. It is
	// nil for any other request, and for a multi that cannot be decoded.
	OpErrs []proto.ErrCode

	// Changes are the changes in order. A multi has one for each operation.
	Changes []Change
}

// A Change is one step of a Txn: one of the types below.
type Change interface{ isChange() }

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	KindPlain     Kind = iota // persistent, or ephemeral if it has an owner
	KindContainer             // deleted by the server once its children are gone
	KindTTL                   // deleted by the server if childless and unmodified for its ttl
)

type (
	// CreateNode adds a node at its final path. Owner is the session of an
	// ephemeral node, else 0. TTLMs is 0 unless Kind is KindTTL.
	CreateNode struct {
		Path  string
		Data  []byte
		ACL   []proto.ACL
		Owner int64
		Kind  Kind
		TTLMs int64
	}
	// DeleteNode removes a childless node.
	DeleteNode struct{ Path string }
	// SetData replaces a node's data; Version is the new one.
	SetData struct {
		Path    string
		Data    []byte
		Version int32
	}
	// SetACL replaces a node's ACL; Aversion is the new one.
	SetACL struct {
		Path     string
		ACL      []proto.ACL
		Aversion int32
	}
	// Check changes nothing: the version was compared when it was prepared.
	Check struct{ Path string }
	// CreateSession adds a session; one that exists already stays as it is.
	CreateSession struct {
		ID        int64
		Password  [16]byte
		TimeoutMs int32
	}
	// CloseSession removes a session, if there is one. The changes before it have
	// deleted its ephemeral nodes.
	CloseSession struct{ ID int64 }
)

func (CreateNode) isChange()    {}
func (DeleteNode) isChange()    {}
func (SetData) isChange()       {}
func (SetACL) isChange()        {}
func (Check) isChange()         {}
func (CreateSession) isChange() {}
func (CloseSession) isChange()  {}

// A Result is the outcome of a Txn.
type Result struct {
	// Err belongs in the header of the reply. It is OK for a multi that failed at
	// one operation: its errors are in the MultiReply.
	Err proto.ErrCode

	// Reply is the body of the reply, nil if there is none. It is sent with an Err, too. (A check
	// outside a multi has none; the Java server never answers one that succeeds.)
	Reply proto.Reply

	// Events are in the order in which the server fires them.
	Events []Event
}

// An Event is a change for which there may be watches.
type Event struct {
	Type proto.EventType
	Path string

	// ACL is the ACL of the node at Path when the event happened. Connections that
	// may not read it are not notified (CVE-2024-23944).
	ACL []proto.ACL
}
