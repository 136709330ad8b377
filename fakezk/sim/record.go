package sim

import (
	"path"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// origin has the fields of a node for the record of its deletion.
type origin struct{ czxid, owner int64 }

// recordChanges notes every change that the engine made.
func (s *simulation) recordChanges(r engine.Reaction) {
	for _, a := range r.Followed {
		s.notes.Notified(a.Txn.Zxid, func(c trace.Change) int { return s.notifiedOf(a, c) })
		s.noteNotified(a)
	}
	for _, a := range r.Applied {
		s.replicate(a.Txn.Zxid)
		changes := a.Txn.Changes
		if n := len(changes); n > 0 && a.Txn.Op == proto.OpCloseSession {
			// First the end of the session, then its ephemerals.
			s.recordChange(a, changes[n-1])
			changes = changes[:n-1]
		}
		for _, change := range changes {
			s.recordChange(a, change)
		}
		s.noteNotified(a)
	}
}

func (s *simulation) recordChange(a engine.Applied, change state.Change) {
	c := trace.Change{Time: s.agenda.Now(), Zxid: a.Txn.Zxid}
	if !a.ByServer {
		c.Session = a.Txn.Session
	}
	switch ch := change.(type) {
	case state.CreateNode:
		c.Kind, c.Path, c.Data, c.Owner, c.Czxid = trace.NodeCreated, ch.Path, ch.Data, ch.Owner,
			a.Txn.Zxid
		s.origins[ch.Path] = origin{a.Txn.Zxid, ch.Owner}
	case state.DeleteNode:
		c.Kind, c.Path = trace.NodeDeleted, ch.Path
		c.Owner, c.Czxid = s.origins[ch.Path].owner, s.origins[ch.Path].czxid
		delete(s.origins, ch.Path)
	case state.SetData:
		c.Kind, c.Path, c.Data = trace.DataChanged, ch.Path, ch.Data
		c.Owner, c.Czxid = s.origins[ch.Path].owner, s.origins[ch.Path].czxid
	case state.CreateSession:
		c.Kind, c.Owner = trace.SessionStarted, ch.ID
	case state.CloseSession:
		c.Kind, c.Owner = trace.SessionEnded, ch.ID
	default:
		return
	}
	if c.Path != "" {
		s.changed = append(s.changed, c.Time)
	}
	c.Client = s.out.SessionClient[c.Session]
	c.Notified = s.notifiedOf(a, c)
	s.notes.Change(s.log("server", "%s", tracetext.Change(c)), c)
}

// notifiedOf counts the notifications that one change caused, those of its node
// and, for a creation or deletion, those of its parent. A notification to the session
// that made the change does not count, nor one to a session that another server has notified: such
// a client has come to a server that is behind, and has set its watch there anew.
func (s *simulation) notifiedOf(a engine.Applied, c trace.Change) int {
	n := 0
	for i, ev := range a.Result.Events {
		if !concerns(ev, c) {
			continue
		}
		for _, session := range a.Notified[i] {
			if session != a.Txn.Session && !s.notified[notified{a.Txn.Zxid, session}] {
				n++
			}
		}
	}
	return n
}

// notified is a session that one server of several has notified of a transaction.
type notified struct{ zxid, session int64 }

// noteNotified notes the sessions that a server has notified.
func (s *simulation) noteNotified(a engine.Applied) {
	if s.world.servers() == 1 {
		return
	}
	for _, sessions := range a.Notified {
		for _, session := range sessions {
			s.notified[notified{a.Txn.Zxid, session}] = true
		}
	}
}

// concerns reports whether an event is due to a change. In a transaction that
// changes several children of one node, the parent's event counts for each.
func concerns(ev state.Event, c trace.Change) bool {
	switch {
	case c.Path == "":
		return false
	case ev.Type == proto.EventChildrenChanged:
		return c.Kind != trace.DataChanged && ev.Path == path.Dir(c.Path)
	}
	return ev.Path == c.Path
}

// countEvent notes a notification as a coordinate, and returns its moment.
func (s *simulation) countEvent(l *link, m *carry.Message) trace.Moment {
	l.conn.CountEvent(m)
	ev, name := m.Event, l.client.name
	at := s.log("server", "notifies %s: %s %s (event %d)", name, ev.Type, ev.Path, m.Number)
	s.notes.Event(at, trace.EventPoint{Client: name, Number: m.Number, Type: ev.Type.String(),
		Path: ev.Path})
	return at
}
