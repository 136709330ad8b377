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
	// MultiReply answers multi, op by op, also when the multi failed, and
	// multiRead.
	MultiReply struct{ Results []OpResult }
	// EphemeralsReply answers getEphemerals.
	EphemeralsReply struct{ Paths []string }
	// CountReply answers getAllChildrenNumber.
	CountReply struct{ Number int32 }
	// WhoAmIReply answers whoAmI. The ID of a digest identity is the user alone.
	WhoAmIReply struct{ IDs []ID }
	// ErrReply answers addWatch: an error code as the body, OK in practice.
	ErrReply struct{ Err ErrCode }
	// SaslReply answers sasl; a server without SASL sends a nil token.
	SaslReply struct{ Token []byte }
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
func (EphemeralsReply) isReply()   {}
func (CountReply) isReply()        {}
func (WhoAmIReply) isReply()       {}
func (ErrReply) isReply()          {}
func (SaslReply) isReply()         {}
