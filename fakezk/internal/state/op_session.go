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
// deletes its ephemeral nodes in the order of their paths, whatever their ACLs.
// (The Java server's order is that of a hash set.) A session that is not known is
// no error: the Txn consumes its zxid and changes nothing.
func (s *Store) PrepareCloseSession(id int64, now int64) Txn {
	t := s.newTxn(proto.OpCloseSession, id, now)
	for _, path := range s.Ephemerals(id) {
		t.Changes = append(t.Changes, DeleteNode{Path: path})
	}
	t.Changes = append(t.Changes, CloseSession{ID: id})
	return t
}

func (c CreateSession) apply(s *Store, _ *Txn, _ *Result) proto.Reply {
	if _, known := s.sessions[c.ID]; !known {
		s.sessions[c.ID] = &session{
			info:       SessionInfo(c),
			ephemerals: map[string]struct{}{},
		}
	}
	return nil
}

func (c CloseSession) apply(s *Store, t *Txn, _ *Result) proto.Reply {
	if ses, ok := s.sessions[c.ID]; ok && len(ses.ephemerals) > 0 {
		panic(fmt.Sprintf("state: zxid %#x: session %#x closes and leaves %q",
			t.Zxid, c.ID, s.Ephemerals(c.ID)))
	}
	delete(s.sessions, c.ID)
	return nil
}

func (s *Store) own(t *Txn, owner int64, path string) {
	ses, ok := s.sessions[owner]
	if !ok {
		panic(fmt.Sprintf("state: zxid %#x (%s): no session %#x to own %q", t.Zxid, t.Op, owner, path))
	}
	ses.ephemerals[path] = struct{}{}
}

func (s *Store) disown(owner int64, path string) {
	if ses, ok := s.sessions[owner]; ok {
		delete(ses.ephemerals, path)
	}
}
