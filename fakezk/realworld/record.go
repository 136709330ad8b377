package realworld

import (
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
)

// recorded are the changes of a guest as entries of a transaction log: the writes that servers have
// answered, with the zxid of the answer, and the beginning and end of each session, from the zxids
// of its nodes. Writes without an answer are counted in the Result.
func (r *run) recorded() (list []proto.LogEntry) {
	for _, id := range slices.Sorted(maps.Keys(r.sessions)) {
		for _, e := range []proto.LogEntry{r.sessions[id].began, r.sessions[id].ended} {
			if e.Zxid != 0 {
				list = append(list, e)
			}
		}
	}
	for _, q := range r.answers {
		switch {
		case q.Handshake || !q.Header.Op.IsWrite():
		case q.received == 0:
			r.out.Unanswered++
		case q.Err == proto.OK:
			list = append(list, proto.LogEntry{Session: q.Session, Cxid: q.Header.Xid, Zxid: q.Zxid,
				TimeMs: q.sentAt.UnixMilli(), Op: q.Header.Op, Records: recordsOf(q.Body, q.Reply)})
		}
	}
	return list
}

// recordsOf are the changes by a request that has succeeded.
func recordsOf(req proto.Request, reply proto.Reply) []proto.LogRecord {
	switch b := req.(type) {
	case *proto.Create:
		record := proto.LogRecord{Op: b.Code, Path: b.Path, Data: b.Data,
			Ephemeral: b.Flags == zk.FlagEphemeral || b.Flags == zk.FlagEphemeralSequential}
		switch r := reply.(type) {
		case proto.PathReply:
			record.Path = r.Path
		case proto.PathStatReply:
			record.Path = r.Path
		}
		return []proto.LogRecord{record}
	case *proto.SetData:
		return []proto.LogRecord{{Op: proto.OpSetData, Path: b.Path, Data: b.Data}}
	case *proto.Delete:
		return []proto.LogRecord{{Op: proto.OpDelete, Path: b.Path}}
	case *proto.Multi:
		return recordsOfMulti(b, reply)
	}
	return nil
}

func recordsOfMulti(multi *proto.Multi, reply proto.Reply) (list []proto.LogRecord) {
	m, ok := reply.(proto.MultiReply)
	if !ok || len(m.Results) != len(multi.Ops) {
		return nil
	}
	for i, result := range m.Results {
		if result.Err != proto.OK {
			return nil
		}
		list = append(list, recordsOf(multi.Ops[i], result.Reply)...)
	}
	return list
}

// noteGuestAtRest notes the nodes and the sessions, and where the record ends. It may be called
// again after the connection was lost.
func (r *run) noteGuestAtRest(conn *zk.Conn) error {
	rest := r.root + "/rest"
	if err := createNode(conn, rest); err != nil {
		return err
	}
	_, stat, err := conn.Get(rest)
	if err != nil {
		return err
	}
	r.restZxid = stat.Czxid
	if err := r.noteNodes(conn); err != nil {
		return err
	}
	r.mu.Lock()
	sessions := maps.Clone(r.sessions)
	r.mu.Unlock()
	r.out.Sessions = []view.Session{}
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		if err := r.noteSession(conn, id, sessions[id]); err != nil {
			return err
		}
	}
	return nil
}

// noteSession looks at the nodes of a session. The first was made just after the session. It is
// missing if the connection was lost before: then the session is unknown.
func (r *run) noteSession(conn *zk.Conn, id int64, s *session) error {
	lives, _, err := conn.Exists(r.sessionNode(id) + aliveNode)
	if err != nil {
		return err
	}
	_, stat, err := conn.Get(r.sessionNode(id))
	if err != nil {
		return ignoreNoNode(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := func(op proto.OpCode, zxid int64) proto.LogEntry {
		return proto.LogEntry{Session: id, Zxid: zxid, Op: op, Records: []proto.LogRecord{{Op: op}}}
	}
	s.began = entry(proto.OpCreateSession, stat.Czxid-1)
	if lives {
		r.out.Sessions = append(r.out.Sessions, view.Session{ID: id})
		return nil
	}
	s.ended = entry(proto.OpCloseSession, stat.Pzxid)
	s.ended.Cxid = r.closedBy(id)
	switch {
	case s.ended.Cxid != 0: // its place is behind the request
	case !s.expired.IsZero():
		s.ended.TimeMs = s.expired.UnixMilli()
	default:
		s.ended.TimeMs = s.lastSent.Add(s.timeout).UnixMilli()
	}
	return nil
}

// closedBy is the xid of the request by which a client has closed its session, 0 if there is none.
func (r *run) closedBy(session int64) int32 {
	for _, q := range r.answers {
		if q.Header.Op == proto.OpCloseSession && q.Session == session {
			return q.Header.Xid
		}
	}
	return 0
}
