package state

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// PrepareCreateSession is the Txn that starts a session. The caller picks the id,
// the password and the negotiated timeout. The id must not be 0.
func (s *Store) PrepareCreateSession(id int64, password [16]byte, timeoutMs int32, now int64) Txn {
	if id == 0 {
		panic("state: session id 0 means the server itself")
	}
	t := s.newTxn(proto.OpCreateSession, id, now)
	t.Changes = []Change{CreateSession{ID: id, Password: password, TimeoutMs: timeoutMs}}
	return t
}

// PrepareCloseSession is the Txn that ends a session, by wish or by expiry, and
// deletes its ephemeral nodes in the order of [Store.Ephemerals], whatever their
// ACLs. A session that is not known is no error: the Txn consumes its zxid and
// changes nothing.
func (s *Store) PrepareCloseSession(id int64, now int64) Txn {
	t := s.newTxn(proto.OpCloseSession, id, now)
	for _, path := range s.Ephemerals(id) {
		t.Changes = append(t.Changes, DeleteNode{Path: path})
	}
	t.Changes = append(t.Changes, CloseSession{ID: id})
	return t
}

func (c CreateSession) apply(s *Store) {
	if _, known := s.sessions[c.ID]; !known {
		s.sessions[c.ID] = &session{info: SessionInfo(c)}
	}
}

func (c CloseSession) apply(s *Store, t *Txn) {
	if left := s.Ephemerals(c.ID); len(left) > 0 {
		panic(fmt.Sprintf("state: zxid %#x: session %#x closes and leaves %q", t.Zxid, c.ID, left))
	}
	delete(s.sessions, c.ID)
}
