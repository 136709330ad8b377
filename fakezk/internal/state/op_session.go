package state

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// PrepareCreateSession returns the Txn that starts a session. The caller chooses the
// id, which must not be 0, the password and the negotiated timeout.
func (s *Store) PrepareCreateSession(id int64, password [16]byte, timeoutMs int32, now int64) Txn {
	if id == 0 {
		panic("state: session id 0 means the server itself")
	}
	t := s.newTxn(proto.OpCreateSession, id, now)
	t.Changes = []Change{CreateSession{ID: id, Password: password, TimeoutMs: timeoutMs}}
	return t
}

// PrepareCloseSession returns the Txn that ends a session, closed by its client or expired, and
// deletes its ephemeral nodes in the order of [Store.Ephemerals] without checking their ACLs. For
// an unknown session the Txn consumes a zxid and changes nothing.
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
