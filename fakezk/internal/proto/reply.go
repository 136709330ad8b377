package proto

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
	// DataReply answers getData. Nil data is null on the wire, unlike empty data.
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
	// MultiReply answers multi, whether it succeeded or failed, and multiRead. It has
	// one result for each operation.
	MultiReply struct{ Results []OpResult }
	// EphemeralsReply answers getEphemerals.
	EphemeralsReply struct{ Paths []string }
	// CountReply answers getAllChildrenNumber.
	CountReply struct{ Number int32 }
	// WhoAmIReply answers whoAmI. The ID of a digest identity is the user name alone.
	WhoAmIReply struct{ IDs []ID }
	// ErrReply answers addWatch. Its body is an error code, always OK.
	ErrReply struct{ Err ErrCode }
	// SaslReply answers sasl; a server without SASL sends a nil token.
	SaslReply struct{ Token []byte }
)

// OpResult is the result of one operation of a MultiReply: its error, or its reply,
// which is nil for delete and check.
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
func (EphemeralsReply) isReply()   {}
func (CountReply) isReply()        {}
func (WhoAmIReply) isReply()       {}
func (ErrReply) isReply()          {}
func (SaslReply) isReply()         {}
