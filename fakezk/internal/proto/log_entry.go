package proto

// LogEntry is one entry of a server's transaction log: a change as the server
// decided and applied it. A refused write has an entry without records.
type LogEntry struct {
	// Session asked for it, with the xid Cxid. An entry that the server made of
	// itself, the end of a session that expired say, has the Cxid 0.
	Session int64
	Cxid    int32
	Zxid    int64
	// TimeMs is when the server decided, in milliseconds since the Unix epoch.
	TimeMs int64
	// Op is what was asked, OpError if it was refused.
	Op OpCode
	// Records are the changes, several of a multi.
	Records []LogRecord
}

// LogRecord is one change of a LogEntry. Op is that of a create, or OpDelete,
// OpDeleteContainer, OpSetData, OpSetACL, OpCheck, OpCreateSession or
// OpCloseSession, whose ephemerals go with it without records of their own.
type LogRecord struct {
	Op        OpCode
	Path      string // as created, sequence number included
	Data      []byte // of a create or setData
	Ephemeral bool   // owned by the entry's session
}
