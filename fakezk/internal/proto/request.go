package proto

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
	// Exists reads a node's stat. Watch leaves a data watch, also without a node.
	Exists struct {
		Path  string
		Watch bool
	}
	// GetData reads a node's data and stat. Watch leaves a data watch.
	GetData struct {
		Path  string
		Watch bool
	}
	// GetChildren is getChildren (names) or getChildren2 (names and stat). Watch
	// leaves a child watch.
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
	// SetACL replaces a node's ACL; Version is the version of the ACL (aversion).
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
	// MultiRead holds several getData and getChildren; each has its own result.
	MultiRead struct{ Ops []Request }
	// Sasl is a step of SASL authentication.
	Sasl struct{ Token []byte }
	// SetWatches is setWatches or setWatches2. It registers watches again after a
	// reconnect. A watch of the first three lists fires at once if its node changed
	// after RelativeZxid. Only setWatches2 has the last two lists.
	SetWatches struct {
		Code                                    OpCode
		RelativeZxid                            int64
		DataWatches, ExistWatches, ChildWatches []string
		PersistentWatches, RecursiveWatches     []string
	}
	// AddWatch leaves a persistent watch, which stays when it fires.
	AddWatch struct {
		Path string
		Mode int32
	}
	// Watches is checkWatches or removeWatches.
	Watches struct {
		Code OpCode
		Path string
		Type int32
	}
	// GetEphemerals lists the session's ephemeral nodes under a prefix.
	GetEphemerals struct{ Prefix string }
	// GetAllChildrenNumber counts a node's descendants.
	GetAllChildrenNumber struct{ Path string }
	// DeleteContainer removes an empty container or an expired TTL node. It is the
	// server's own request; a client's is refused.
	DeleteContainer struct{ Path string }
	// CreateSession is a createSession on a connection that has a session already.
	CreateSession struct{ TimeoutMs int32 }
	// Reconfig changes the members of an ensemble.
	Reconfig struct {
		Joining, Leaving, NewMembers string
		CurConfigID                  int64
	}
	// Simple is ping, whoAmI or closeSession: the server ignores the body.
	Simple struct{ Code OpCode }
)

// Op is the operation code of the request.
func (r *Create) Op() OpCode               { return r.Code }
func (r *Delete) Op() OpCode               { return OpDelete }
func (r *Exists) Op() OpCode               { return OpExists }
func (r *GetData) Op() OpCode              { return OpGetData }
func (r *GetChildren) Op() OpCode          { return r.Code }
func (r *SetData) Op() OpCode              { return OpSetData }
func (r *GetACL) Op() OpCode               { return OpGetACL }
func (r *SetACL) Op() OpCode               { return OpSetACL }
func (r *Sync) Op() OpCode                 { return OpSync }
func (r *Check) Op() OpCode                { return OpCheck }
func (r *Multi) Op() OpCode                { return OpMulti }
func (r *Auth) Op() OpCode                 { return OpAuth }
func (r *MultiRead) Op() OpCode            { return OpMultiRead }
func (r *Sasl) Op() OpCode                 { return OpSasl }
func (r *SetWatches) Op() OpCode           { return r.Code }
func (r *AddWatch) Op() OpCode             { return OpAddWatch }
func (r *Watches) Op() OpCode              { return r.Code }
func (r *GetEphemerals) Op() OpCode        { return OpGetEphemerals }
func (r *GetAllChildrenNumber) Op() OpCode { return OpGetAllChildrenNumber }
func (r *DeleteContainer) Op() OpCode      { return OpDeleteContainer }
func (r *CreateSession) Op() OpCode        { return OpCreateSession }
func (r *Reconfig) Op() OpCode             { return OpReconfig }
func (r *Simple) Op() OpCode               { return r.Code }
