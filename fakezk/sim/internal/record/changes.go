package record

import (
	"path"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// origin has the fields of a node for the record of its deletion.
type origin struct{ czxid, owner int64 }

// Changes notes every change that the engine made.
func (r *Recorder) Changes(made engine.Reaction) {
	for _, a := range made.Applied {
		changes := a.Txn.Changes
		if n := len(changes); n > 0 && a.Txn.Op == proto.OpCloseSession {
			// First the end of the session, then its ephemerals.
			r.change(a, changes[n-1])
			changes = changes[:n-1]
		}
		for _, change := range changes {
			r.change(a, change)
		}
	}
	for _, a := range made.Followed {
		r.notes.Notified(a.Txn.Zxid, func(c trace.Change) int { return r.notifiedOf(a, c) })
		r.noteNotified(a)
	}
}

func (r *Recorder) change(a engine.Applied, made state.Change) {
	c := trace.Change{Time: r.now(), Zxid: a.Txn.Zxid}
	if !a.ByServer {
		c.Session = a.Txn.Session
	}
	switch ch := made.(type) {
	case state.CreateNode:
		c.Kind, c.Path, c.Data, c.Owner, c.Czxid = trace.NodeCreated, ch.Path, ch.Data, ch.Owner,
			a.Txn.Zxid
		r.origins[ch.Path] = origin{a.Txn.Zxid, ch.Owner}
	case state.DeleteNode:
		c.Kind, c.Path = trace.NodeDeleted, ch.Path
		c.Owner, c.Czxid = r.origins[ch.Path].owner, r.origins[ch.Path].czxid
		delete(r.origins, ch.Path)
	case state.SetData:
		c.Kind, c.Path, c.Data = trace.DataChanged, ch.Path, ch.Data
		c.Owner, c.Czxid = r.origins[ch.Path].owner, r.origins[ch.Path].czxid
	case state.CreateSession:
		c.Kind, c.Owner = trace.SessionStarted, ch.ID
	case state.CloseSession:
		c.Kind, c.Owner = trace.SessionEnded, ch.ID
	default:
		return
	}
	if c.Path != "" {
		r.changed = append(r.changed, c.Time)
	}
	c.Client = r.sessions[c.Session]
	c.Notified = r.notifiedOf(a, c)
	r.notes.Change(r.Log("server", "%s", tracetext.Change(c)), c)
}

// notifiedOf counts the notifications that one change caused, those of its node
// and, for a creation or deletion, those of its parent. A notification to the session
// that made the change does not count, nor one to a session that another server has notified: a
// server that has not heard that a connection is lost still has its watches.
func (r *Recorder) notifiedOf(a engine.Applied, c trace.Change) int {
	n := 0
	for i, sessions := range a.Notified {
		if !concerns(a.Result.Events[i], c) {
			continue
		}
		for _, session := range sessions {
			if session != a.Txn.Session && !r.notified[notified{a.Txn.Zxid, session}] {
				n++
			}
		}
	}
	return n
}

// notified is a session that one server of several has notified of a transaction.
type notified struct{ zxid, session int64 }

// noteNotified notes the sessions that a server has notified.
func (r *Recorder) noteNotified(a engine.Applied) {
	for _, sessions := range a.Notified {
		for _, session := range sessions {
			r.notified[notified{a.Txn.Zxid, session}] = true
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

// ChangesSince is the number of changes of the tree at a time or later.
func (r *Recorder) ChangesSince(begin time.Duration) int {
	at, _ := slices.BinarySearch(r.changed, begin)
	return len(r.changed) - at
}
