package proto

// LogEntry is one entry of a server's transaction log: a change as the server
// decided and applied it. A refused write has an entry without records.
type LogEntry struct {
	// Session sent the request, with the xid Cxid. Cxid is 0 for an entry of the
	// server's own, such as the end of an expired session.
	Session int64
	Cxid    int32
	Zxid    int64
	// TimeMs is when the server decided, in milliseconds since the Unix epoch.
	TimeMs int64
	// Op is the operation requested, OpError if it was refused.
	Op OpCode
	// Records are the changes. A multi has one for each of its operations.
	Records []LogRecord
}

// LogRecord is one change of a LogEntry. Op is one of the create codes, OpDelete,
// OpDeleteContainer, OpSetData, OpReconfig, OpSetACL, OpCheck, OpCreateSession or OpCloseSession.
// OpCloseSession also deletes the session's ephemeral nodes; the log has no records for them.
type LogRecord struct {
	Op        OpCode
	Path      string // as created, sequence number included
	Data      []byte // of a create, setData or reconfig
	ACL       []ACL  // of a create or setACL
	Ephemeral bool   // owned by the entry's session
	TTL       int64  // of createTTL, in milliseconds
	// Siblings is the number of children that the parent of a created node ever had, with it.
	Siblings int32
}

// Snapshot is the tree of a server, as it writes it to disk from time to time.
type Snapshot struct {
	Nodes []SnapshotNode // parents first
}

// SnapshotNode is a node of a Snapshot. Of its Stat, Cversion is the number of children that the
// node ever had; DataLength and NumChildren are 0.
type SnapshotNode struct {
	Path string // "" for the root
	Data []byte
	// ACL is nil if the snapshot does not have it: the server writes the lists first, so a list
	// that comes up later is missing. The log has the write that set it.
	ACL  []ACL
	Stat Stat
}
