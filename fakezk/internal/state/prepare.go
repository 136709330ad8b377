package state

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A Caller is the sender of a request: a session, and the identities of its connection.
// Session 0 is the server itself: its writes need no session, but it cannot own
// ephemeral nodes, and ACLs apply to it as to any client.
type Caller struct {
	Session int64
	IDs     []proto.ID
	Super   bool // passes every ACL check, as does an identity with scheme "super"
}

// Prepare decides the effect of a write request and does not change the store. now is
// in milliseconds since the Unix epoch. Writes of an unknown session are refused with
// SessionExpired.
// Prepare panics if req is not a write, see [proto.OpCode.IsWrite].
func (s *Store) Prepare(req proto.Request, by Caller, now int64) Txn {
	if !req.Op().IsWrite() {
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

// PrepareMalformed returns the Txn of a write with a body that cannot be decoded. Its
// result is MarshallingError.
func (s *Store) PrepareMalformed(op proto.OpCode, session int64, now int64) Txn {
	t := s.newTxn(op, session, now)
	t.Err = proto.MarshallingError
	return t
}

func (s *Store) newTxn(op proto.OpCode, session, now int64) Txn {
	return Txn{Zxid: s.drawn + 1, Time: now, Session: session, Op: op}
}

// A draft collects the changes of one request. pending has the changed records of a
// multi, which its later operations see; it is nil for any other request.
type draft struct {
	store   *Store
	by      Caller
	pending map[string]record
	changes []Change
}

// A record is the part of a node that the checks look at.
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

// step checks one operation and adds its change to the draft unless it is refused.
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

// find returns the record of a node after the earlier operations of a multi.
func (d *draft) find(path string) (record, bool) {
	if path == "" {
		path = "/"
	}
	if rec, ok := d.pending[path]; ok {
		return rec, !rec.gone
	}
	n, ok := d.store.tree.find(path)
	return recordOf(n, ok)
}

// findBelow is find for a child of a parent with a known record. (parentOf "/" and
// "//x" is the root, but they are not its children.)
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

// note keeps a node's new record for the later operations of a multi.
func (d *draft) note(path string, rec record) {
	if d.pending != nil {
		d.pending[path] = rec
	}
}

// versionMatches reports whether the expected version is -1 or the actual one.
func versionMatches(expected, actual int32) bool {
	return expected == -1 || expected == actual
}

// checkQuota refuses a write that adds bytes and nodes at path beyond a hard limit, if the server
// enforces quotas.
func (d *draft) checkQuota(path string, bytes, count int64) proto.ErrCode {
	if !d.store.cfg.EnforceQuota {
		return proto.OK
	}
	return d.store.quotas.check(path, bytes, count)
}
