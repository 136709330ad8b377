package state

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A Caller is who asks: a session, and the identities of its connection.
// Session 0 is the server itself: its writes need no session, but it cannot own
// ephemeral nodes, and ACLs count for it as for anybody.
type Caller struct {
	Session int64
	IDs     []proto.ID
	Super   bool // passes every ACL check, as does an identity with scheme "super"
}

// IsWrite says whether an operation is a write: one that consumes a zxid, also
// when it is refused or malformed.
func IsWrite(op proto.OpCode) bool {
	switch op {
	case proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer, proto.OpCreateTTL,
		proto.OpDelete, proto.OpSetData, proto.OpSetACL, proto.OpCheck, proto.OpMulti,
		proto.OpDeleteContainer, proto.OpReconfig:
		return true
	}
	return false
}

// Prepare decides what a write request does. The store stays as it is until the
// Txn is applied. now is in milliseconds since the Unix epoch. Writes of a
// session that the store does not know are refused with SessionExpired.
// Prepare panics if req is not a write, see [IsWrite].
func (s *Store) Prepare(req proto.Request, by Caller, now int64) Txn {
	if !IsWrite(req.Op()) {
		panic(fmt.Sprintf("state: prepare of %s, which is not a write", req.Op()))
	}
	t := s.newTxn(req.Op(), by.Session, now)
	if m, ok := req.(*proto.Multi); ok {
		return s.prepareMulti(t, m, by)
	}
	d := draft{store: s, by: by}
	if t.Err = d.step(req); t.Err == proto.OK {
		t.Changes = d.changes
	}
	return t
}

// PrepareMalformed is the Txn of a write whose body could not be decoded. Its
// result is MarshallingError.
func (s *Store) PrepareMalformed(op proto.OpCode, session int64, now int64) Txn {
	t := s.newTxn(op, session, now)
	t.Err = proto.MarshallingError
	return t
}

func (s *Store) newTxn(op proto.OpCode, session, now int64) Txn {
	return Txn{Zxid: s.drawn + 1, Time: now, Session: session, Op: op}
}

// A draft collects the changes of one request. Operations of a multi see those
// before them through pending, which is nil for any other request.
type draft struct {
	store   *Store
	by      Caller
	pending map[string]record
	changes []Change
}

// A record is what the checks need to know of a node.
type record struct {
	node              *node // as it was before the request, nil if it is new
	acl               []proto.ACL
	version, aversion int32
	counter           int32
	numChildren       int32
	dataLength        int
	ephemeral         bool
	gone              bool
}

// step validates one operation. If it may pass, it is recorded in the draft.
func (d *draft) step(req proto.Request) proto.ErrCode {
	if !d.sessionLives() {
		return proto.SessionExpired
	}
	switch q := req.(type) {
	case *proto.Create:
		return d.create(q)
	case *proto.Delete:
		return d.delete(q)
	case *proto.SetData:
		return d.setData(q)
	case *proto.SetACL:
		return d.setACL(q)
	case *proto.Check:
		return d.check(q)
	case *proto.DeleteContainer:
		return d.deleteContainer(q)
	case *proto.Reconfig:
		return proto.ReconfigDisabled // a standalone server has nothing to reconfigure
	}
	return proto.MarshallingError
}

func (d *draft) sessionLives() bool {
	_, ok := d.store.sessions[d.by.Session]
	return ok || d.by.Session == 0
}

// find returns the record of a node as the operations before have left it.
func (d *draft) find(path string) (record, bool) {
	if path == "" {
		path = "/"
	}
	if rec, ok := d.pending[path]; ok {
		return rec, !rec.gone
	}
	n, ok := d.store.find(path)
	return recordOf(n, ok)
}

// findBelow is find for a node of which the parent's record is known. (The root is
// the parent of "/" and "//x" by their look, but they are not its children.)
func (d *draft) findBelow(parent record, path string) (record, bool) {
	if d.pending != nil || path == "/" || strings.HasPrefix(path, "//") {
		return d.find(path)
	}
	n, ok := parent.node.child(nameOf(path))
	return recordOf(n, ok)
}

func recordOf(n *node, ok bool) (record, bool) {
	if !ok {
		return record{}, false
	}
	return record{
		node: n, acl: n.acl, version: n.version, aversion: n.aversion, counter: n.counter,
		numChildren: n.numChildren(), dataLength: len(n.data), ephemeral: n.owner != 0,
	}, true
}

// note keeps a node's new record for the operations behind, if there are any.
func (d *draft) note(path string, rec record) {
	if d.pending != nil {
		d.pending[path] = rec
	}
}

// versionMatches is the rule for expected versions: -1 matches any.
func versionMatches(expected, actual int32) bool {
	return expected == -1 || expected == actual
}
