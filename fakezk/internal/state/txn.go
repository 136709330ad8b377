package state

import "github.com/zksim/zksim/fakezk/internal/proto"

// A Txn is one entry of the log: what one write request does, decided. It is
// plain data and shares slices with the request it comes from.
type Txn struct {
	Zxid    int64
	Time    int64 // ms since the Unix epoch
	Session int64 // whose request it is
	Op      proto.OpCode

	// Err says that the request is refused and changes nothing. A refused
	// multi has the error of the operation that failed.
	Err proto.ErrCode

	// Skipped says that the server lost its way before it had made a transaction
	// of the request: the Zxid is used up, but never applied nor shown. Replies
	// go on with the zxid before it. A log may leave such a Txn out.
	Skipped bool

	// OpErrs is the outcome of each operation of a refused multi: OK for those
	// before the failed one, RuntimeInconsistency for those behind it. It is
	// nil for anything else, also for a multi that could not be understood.
	OpErrs []proto.ErrCode

	// Changes are made in this order. A multi has one for each operation.
	Changes []Change
}

// A Change is one step of a Txn: one of the types below.
type Change interface{ isChange() }

// Kind tells containers and TTL nodes from other nodes.
type Kind uint8

// The kinds of nodes.
const (
	KindPlain     Kind = iota // persistent, or ephemeral if it has an owner
	KindContainer             // may be deleted by the server once its children are gone
	KindTTL                   // may be deleted by the server when unmodified for its ttl and childless
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
	// DeleteNode removes a childless node, also one whose time has come.
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
	// CloseSession forgets a session, if it is known. Its ephemeral nodes have been
	// deleted by the changes before it.
	CloseSession struct{ ID int64 }
)

func (CreateNode) isChange()    {}
func (DeleteNode) isChange()    {}
func (SetData) isChange()       {}
func (SetACL) isChange()        {}
func (Check) isChange()         {}
func (CreateSession) isChange() {}
func (CloseSession) isChange()  {}

// A Result is what applying a Txn leads to.
type Result struct {
	// Err belongs in the header of the reply. It is OK also for a multi of
	// which an operation failed: the errors are in its MultiReply.
	Err proto.ErrCode

	// Reply is the body, nil if there is none. It goes out also with an Err.
	// (A check on its own, outside a multi, has none either. The Java server
	// never answers one that succeeds.)
	Reply proto.Reply

	// Events come in the order in which the server fires them.
	Events []Event
}

// An Event is a change that watches may wait for.
type Event struct {
	Type proto.EventType
	Path string

	// ACL is that of the node at Path when the event happened. A connection
	// that may not read it is not told (CVE-2024-23944).
	ACL []proto.ACL
}
