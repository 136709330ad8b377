package fakezk

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/txnlog"
)

// changesBehind are the changes of the transaction log behind a zxid that concern
// the run's sessions, each with its place in the trace.
func (r *realRun) changesBehind(base int64) ([]pendingChange, error) {
	entries, err := txnlog.Read(r.world.Server.DataDir(), base)
	if err != nil {
		return nil, err
	}
	places, err := r.places(entries)
	if err != nil {
		return nil, err
	}
	teller := realTeller{run: r, origins: map[string]origin{}}
	var list []pendingChange
	for i, e := range entries {
		if e.Session != 0 && r.out.SessionClient[e.Session] == "" {
			continue // whoever looks at the server from outside
		}
		if e.Zxid > r.restZxid {
			break // what is done to end the run
		}
		for _, c := range teller.tell(e) {
			c.Time = r.timeOf(places[i], e.TimeMs)
			list = append(list, pendingChange{c, behind(places[i], len(list))})
		}
	}
	r.countNotified(list)
	return list, nil
}

// behind is the moment of the n-th change of all, behind so many lines.
func behind(lines, n int) Moment {
	return newMoment(int64(lines), 1+n>>nthBits, n&(1<<nthBits-1))
}

// timeOf is the virtual time of a change: what the server's clock says, but within
// what its place in the trace allows.
func (r *realRun) timeOf(place int, ms int64) time.Duration {
	at := time.UnixMilli(ms).Sub(r.start) * time.Duration(r.world.Pace)
	if place > 0 {
		at = max(at, r.lines[place-1].time)
	}
	if place < len(r.lines) {
		at = min(at, r.lines[place].time)
	}
	return max(at, 0)
}

// realTeller turns entries of the log, in order, into changes. It remembers the
// nodes that exist.
type realTeller struct {
	run     *realRun
	origins map[string]origin
}

func (t *realTeller) tell(e proto.LogEntry) []Change {
	base := Change{Zxid: e.Zxid, Session: e.Session}
	if e.Op == proto.OpCloseSession && t.run.calls[callOf(e)] == nil {
		base.Session = 0 // nobody but the server, or a fault, asked for it
	}
	base.Client = t.run.out.SessionClient[base.Session]
	var list []Change
	for _, record := range e.Records {
		list = append(list, t.tellRecord(base, e.Session, record)...)
	}
	return list
}

func (t *realTeller) tellRecord(c Change, session int64, record proto.LogRecord) []Change {
	c.Path = record.Path
	switch record.Op {
	case proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer, proto.OpCreateTTL:
		c.Kind, c.Data, c.Czxid = NodeCreated, record.Data, c.Zxid
		if record.Ephemeral {
			c.Owner = session
		}
		t.origins[c.Path] = origin{c.Czxid, c.Owner}
	case proto.OpSetData:
		c.Kind, c.Data = DataChanged, record.Data
		c.Owner, c.Czxid = t.origins[c.Path].owner, t.origins[c.Path].czxid
	case proto.OpDelete, proto.OpDeleteContainer:
		c = t.deleted(c)
	case proto.OpCreateSession:
		c.Kind, c.Owner = SessionStarted, session
	case proto.OpCloseSession:
		return t.sessionEnded(c, session)
	default:
		return nil
	}
	return []Change{c}
}

func (t *realTeller) deleted(c Change) Change {
	c.Kind = NodeDeleted
	c.Owner, c.Czxid = t.origins[c.Path].owner, t.origins[c.Path].czxid
	delete(t.origins, c.Path)
	return c
}

// sessionEnded tells first that the session ends, then what goes with it.
func (t *realTeller) sessionEnded(c Change, session int64) []Change {
	end := c
	end.Kind, end.Owner = SessionEnded, session
	list := []Change{end}
	for _, path := range slices.Sorted(maps.Keys(t.origins)) {
		if t.origins[path].owner == session {
			c.Path = path
			list = append(list, t.deleted(c))
		}
	}
	return list
}

func changeText(c Change) string {
	var text string
	switch c.Kind {
	case NodeCreated:
		text = "created " + c.Path
	case NodeDeleted:
		text = "deleted " + c.Path
	case DataChanged:
		text = "changed " + c.Path
	case SessionStarted:
		text = "session " + sessionText(c.Owner) + " starts"
	case SessionEnded:
		text = "session " + sessionText(c.Owner) + " ends"
	}
	if c.Notified > 0 {
		text += fmt.Sprintf(", notifies %d others", c.Notified)
	}
	return text
}

// countNotified counts, for each change, the notifications that it caused: each was
// due to the first change of its kind behind the newest that its session had heard
// of. Those to whoever made the change do not count.
func (r *realRun) countNotified(list []pendingChange) {
	for _, ev := range r.events {
		from, _ := slices.BinarySearchFunc(list, ev.after+1, func(c pendingChange, zxid int64) int { return cmp.Compare(c.Zxid, zxid) })
		for i := from; i < len(list); i++ {
			if causes(list[i].Change, ev.event) {
				if list[i].Session != ev.session {
					list[i].Notified++
				}
				break
			}
		}
	}
}

// causes reports whether a change fires an event.
func causes(c Change, ev proto.WatcherEvent) bool {
	switch ev.Type {
	case proto.EventCreated:
		return c.Kind == NodeCreated && c.Path == ev.Path
	case proto.EventDeleted:
		return c.Kind == NodeDeleted && c.Path == ev.Path
	case proto.EventDataChanged:
		return c.Kind == DataChanged && c.Path == ev.Path
	case proto.EventChildrenChanged:
		return (c.Kind == NodeCreated || c.Kind == NodeDeleted) && path.Dir(c.Path) == ev.Path
	}
	return false
}
