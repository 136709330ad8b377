package fakezk

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// origin is what a node's deletion has to tell of it.
type origin struct{ czxid, owner int64 }

// recordChanges notes every change that the engine made.
func (s *simulation) recordChanges(r engine.Reaction) {
	for _, a := range r.Applied {
		changes := a.Txn.Changes
		if n := len(changes); n > 0 && a.Txn.Op == proto.OpCloseSession {
			// First that the session ends, then what goes with it.
			s.recordChange(a, changes[n-1])
			changes = changes[:n-1]
		}
		for _, change := range changes {
			s.recordChange(a, change)
		}
	}
}

func (s *simulation) recordChange(a engine.Applied, change state.Change) {
	c := Change{Time: s.now(), Zxid: a.Txn.Zxid}
	if !a.ByServer {
		c.Session = a.Txn.Session
	}
	var text string
	switch ch := change.(type) {
	case state.CreateNode:
		c.Kind, c.Path, c.Data, c.Owner, c.Czxid = NodeCreated, ch.Path, ch.Data, ch.Owner, a.Txn.Zxid
		s.origins[ch.Path] = origin{a.Txn.Zxid, ch.Owner}
		text = "created " + ch.Path
	case state.DeleteNode:
		c.Kind, c.Path = NodeDeleted, ch.Path
		c.Owner, c.Czxid = s.origins[ch.Path].owner, s.origins[ch.Path].czxid
		delete(s.origins, ch.Path)
		text = "deleted " + ch.Path
	case state.SetData:
		c.Kind, c.Path, c.Data = DataChanged, ch.Path, ch.Data
		c.Owner, c.Czxid = s.origins[ch.Path].owner, s.origins[ch.Path].czxid
		text = "changed " + ch.Path
	case state.CreateSession:
		c.Kind, c.Owner = SessionStarted, ch.ID
		text = "session " + sessionText(ch.ID) + " starts"
	case state.CloseSession:
		c.Kind, c.Owner = SessionEnded, ch.ID
		text = "session " + sessionText(ch.ID) + " ends"
	default:
		return
	}
	c.Client = s.out.SessionClient[c.Session]
	c.Notified = notifiedOf(a, c)
	if c.Notified > 0 {
		text += fmt.Sprintf(", notifies %d others", c.Notified)
	}
	s.changes = append(s.changes, pendingChange{c, s.log("server", "%s", text)})
}

// notifiedOf counts the notifications that one change caused, those of its node
// and, for a creation or deletion, those of its parent; whoever made the change
// and was told of it too does not count.
func notifiedOf(a engine.Applied, c Change) int {
	n := 0
	for i, ev := range a.Result.Events {
		if !concerns(ev, c) {
			continue
		}
		for _, session := range a.Notified[i] {
			if session != a.Txn.Session {
				n++
			}
		}
	}
	return n
}

// concerns reports whether an event is due to a change. In a transaction that
// changes several children of one node, the parent's event counts for each.
func concerns(ev state.Event, c Change) bool {
	switch {
	case c.Path == "":
		return false
	case ev.Type == proto.EventChildrenChanged:
		return c.Kind != DataChanged && ev.Path == path.Dir(c.Path)
	}
	return ev.Path == c.Path
}

// strike notes that a fault acts, or, if it never fires, that it would have.
func (n *notes) strike(at Moment, f *faultState, client, op, path string) {
	n.strikes = append(n.strikes, pendingStrike{Strike{Fault: f.Fault, Client: client, Op: op, Path: path}, f, at})
}

// countEvent notes a notification as a coordinate and returns the faults that
// select it.
func (s *simulation) countEvent(l *link, ev *proto.WatcherEvent) []*faultState {
	l.client.events++
	p := EventPoint{Client: l.client.name, Number: l.client.events, Type: ev.Type.String(), Path: ev.Path}
	at := s.log("server", "notifies %s: %s %s (event %d)", l.client.name, ev.Type, ev.Path, p.Number)
	s.sent = append(s.sent, pendingEvent{p, at})
	if !s.faultsOn {
		return nil
	}
	return due(s.faults, coordinate{event: true, client: l.client.name, conn: l.number, path: ev.Path})
}

// watch waits for the run to end. When no step is made for too long in real
// time, it gives up and returns all goroutines' stacks.
func (s *simulation) watch(ended <-chan *bubble.Failure) (*bubble.Failure, string) {
	tick := time.NewTicker(s.world.Freeze / 4)
	defer tick.Stop()
	last, idle := int64(-1), 0
	for {
		select {
		case failure := <-ended:
			return failure, ""
		case <-tick.C:
		}
		if steps := s.steps.Load(); steps != last {
			last, idle = steps, 0
		} else if idle++; idle >= 4 {
			return nil, s.bubbleStacks()
		}
	}
}

// result puts together what the run left. After a freeze the simulation still
// runs somewhere, so only what is guarded is read.
func (s *simulation) result(failure *bubble.Failure, frozen string) *Result {
	if frozen != "" {
		return &Result{Trace: s.journal.finish(), Frozen: frozen, Steps: s.steps.Load()}
	}
	out := &s.out
	out.Trace = s.journal.finish()
	out.Panics = s.panics
	if s.order != nil {
		out.Decisions = s.order.decisions
	}
	if failure != nil && failure.Kind == "panic" {
		out.Panics = append(out.Panics, failure.Message+"\n"+failure.Stack)
	} else if failure != nil {
		out.Leaked = failure.Message + "\n" + s.bubbleStacks()
	}
	for _, f := range s.faults {
		if !f.fired {
			out.Missed = append(out.Missed, f.Fault)
		}
	}
	out.number(s.notes)
	return out
}

// number turns moments into trace line numbers and leaves out what happened
// after the end.
func (r *Result) number(n notes) {
	line := r.Trace.find
	for _, p := range n.requests {
		if p.at != AfterEnd {
			p.Step = line(p.at)
			r.Requests = append(r.Requests, p.RequestPoint)
		}
	}
	for _, p := range n.sent {
		if p.at != AfterEnd {
			p.Step = line(p.at)
			r.Events = append(r.Events, p.EventPoint)
		}
	}
	for _, p := range n.strikes {
		if p.fault.fired && p.at != AfterEnd {
			p.Step = line(p.at)
			r.Strikes = append(r.Strikes, p.Strike)
		}
	}
	for _, p := range n.changes {
		if p.at != AfterEnd {
			p.Step = line(p.at)
			r.Changes = append(r.Changes, p.Change)
		}
	}
	slices.SortStableFunc(n.notices, func(a, b pendingNotice) int { return cmp.Compare(a.at, b.at) })
	for _, p := range n.notices {
		if p.at != AfterEnd {
			p.Step = line(p.at)
			r.Notices = append(r.Notices, p.Notice)
		}
	}
}

// Step is the trace line number of a Moment; for AfterEnd it is one more than
// the trace has lines.
func (r *Result) Step(m Moment) int64 { return r.Trace.find(m) }
