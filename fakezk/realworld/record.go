package realworld

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
)

// recorded are the writes that servers have answered as entries of a transaction log, with the zxid
// of the answer, and the number of those without an answer.
func (x *exchanges) recorded() (list []proto.LogEntry, unanswered int) {
	for _, q := range x.requests {
		switch {
		case q.Handshake || !q.Header.Op.IsWrite():
		case q.received == 0:
			unanswered++
		case q.Err == proto.OK:
			list = append(list, proto.LogEntry{Session: q.Session, Cxid: q.Header.Xid, Zxid: q.Zxid,
				TimeMs: q.sentAt.UnixMilli(), Op: q.Header.Op, Records: recordsOf(q.Body, q.Reply)})
		}
	}
	return list, unanswered
}

// recorded are the beginning and the end of each session likewise, from the zxids of its nodes.
func (s sessions) recorded() (list []proto.LogEntry) {
	for _, id := range s.ids() {
		for _, e := range []proto.LogEntry{s[id].began, s[id].ended} {
			if e.Zxid != 0 {
				list = append(list, e)
			}
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

// noteAtRest notes the nodes and the sessions, and where the record ends. It may be called again
// after the connection was lost.
func (g *guest) noteAtRest(conn *zk.Conn, last *atRest) (err error) {
	rest := string(g.root) + "/rest"
	if err := createNode(conn, rest); err != nil {
		return err
	}
	_, stat, err := conn.Get(rest)
	if err != nil {
		return err
	}
	last.zxid = stat.Czxid
	if last.nodes, err = g.root.nodes(conn); err != nil {
		return err
	}
	last.sessions = []view.Session{}
	for _, id := range g.sessionsNow().ids() {
		lives, err := g.noteSession(conn, id)
		if err != nil {
			return err
		}
		if lives {
			last.sessions = append(last.sessions, view.Session{ID: id})
		}
	}
	return nil
}

// noteSession looks at the nodes of a session, and reports whether it lives. The first was made
// just after the session. It is missing if the connection was lost before: then the session is
// unknown.
func (g *guest) noteSession(conn *zk.Conn, id int64) (lives bool, err error) {
	lives, _, err = conn.Exists(g.root.session(id) + aliveNode)
	if err != nil {
		return false, err
	}
	_, stat, err := conn.Get(g.root.session(id))
	if err != nil {
		return false, ignoreNoNode(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sessions[id]
	s.began = lifeEntry(id, proto.OpCreateSession, stat.Czxid-1)
	if lives {
		return true, nil
	}
	s.ended = lifeEntry(id, proto.OpCloseSession, stat.Pzxid)
	s.ended.Cxid = g.exchanges.closedBy(id)
	switch {
	case s.ended.Cxid != 0: // its place is behind the request
	case !s.expired.IsZero():
		s.ended.TimeMs = s.expired.UnixMilli()
	default:
		s.ended.TimeMs = s.lastSent.Add(s.timeout).UnixMilli()
	}
	return false, nil
}

// lifeEntry is the entry of the beginning or end of a session.
func lifeEntry(session int64, op proto.OpCode, zxid int64) proto.LogEntry {
	return proto.LogEntry{
		Session: session, Zxid: zxid, Op: op, Records: []proto.LogRecord{{Op: op}},
	}
}
