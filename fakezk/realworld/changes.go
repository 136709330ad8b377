package realworld

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/txnlog"
	"github.com/zksim/zksim/fakezk/trace"
)

// changesBehind are the changes of the transaction logs behind a zxid, up to the last one of the
// run, that concern the run's sessions, each with its place in the trace.
func (r *run) changesBehind(base, last int64) ([]placedChange, error) {
	entries, err := r.entriesBehind(base)
	if err != nil {
		return nil, err
	}
	places, err := r.exchanges.places(entries, r.journal)
	if err != nil {
		return nil, err
	}
	reader := newLogReader(func(e proto.LogEntry) bool { return r.exchanges.behind(e) != nil })
	var list []placedChange
	for i, e := range entries {
		if e.Session != 0 && r.sessions[e.Session] == nil {
			continue // a session of the run itself, past the proxy
		}
		if e.Zxid > last {
			break // done to end the run
		}
		for _, c := range reader.changesOf(e) {
			c.Client = r.out.SessionClient[c.Session]
			c.Time = r.journal.timeBehind(places[i], e.TimeMs)
			list = append(list, placedChange{c, trace.MomentBehind(places[i], len(list))})
		}
	}
	r.exchanges.countNotified(list)
	return list, nil
}

// entriesBehind are the entries of the log behind a zxid, or what takes their place.
func (r *run) entriesBehind(base int64) (list []proto.LogEntry, err error) {
	if r.world.guest() {
		list, r.out.Unanswered = r.exchanges.recorded()
		list = append(r.sessions.recorded(), list...)
	} else {
		list, err = r.servers.committed(base)
	}
	slices.SortStableFunc(list, func(a, b proto.LogEntry) int {
		return cmp.Compare(a.Zxid, b.Zxid)
	})
	return list, err
}

// committed are the entries behind a zxid that a majority of the servers has in its log. An entry
// of a smaller number may be a proposal that was lost with a leader. A server that is down counts
// too: its log is still there.
func (s *servers) committed(base int64) ([]proto.LogEntry, error) {
	var logs [][]proto.LogEntry
	for _, server := range s.list {
		entries, err := txnlog.Read(server.DataDir(), base)
		if err != nil {
			return nil, err
		}
		logs = append(logs, entries)
	}
	return inMajority(logs), nil
}

// inMajority are the entries that more than half of the logs have, each once. One log may have an
// entry twice.
func inMajority(logs [][]proto.LogEntry) (list []proto.LogEntry) {
	have := map[int64]int{}
	for _, log := range logs {
		seen := map[int64]bool{}
		for _, e := range log {
			if seen[e.Zxid] {
				continue
			}
			seen[e.Zxid] = true
			if have[e.Zxid]++; have[e.Zxid] == len(logs)/2+1 {
				list = append(list, e)
			}
		}
	}
	return list
}

// placedChange is a change and its place in the trace.
type placedChange struct {
	trace.Change
	at trace.Moment
}

// logReader turns entries of the log, in order, into changes. It remembers the nodes that exist.
type logReader struct {
	asked   func(proto.LogEntry) bool // reports whether a client asked for the end of its session
	origins map[string]nodeOrigin
}

func newLogReader(asked func(proto.LogEntry) bool) *logReader {
	return &logReader{asked, map[string]nodeOrigin{}}
}

func (r *logReader) changesOf(e proto.LogEntry) []trace.Change {
	base := trace.Change{Zxid: e.Zxid, Session: e.Session}
	if e.Op == proto.OpCloseSession && !r.asked(e) {
		base.Session = 0 // the server, or a fault, ended it
	}
	var list []trace.Change
	for _, record := range e.Records {
		list = append(list, r.changesOfRecord(base, e.Session, record)...)
	}
	return list
}

func (r *logReader) changesOfRecord(
	c trace.Change, session int64, record proto.LogRecord,
) []trace.Change {
	c.Path = record.Path
	switch record.Op {
	case proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer, proto.OpCreateTTL:
		c.Kind, c.Data, c.Czxid = trace.NodeCreated, record.Data, c.Zxid
		if record.Ephemeral {
			c.Owner = session
		}
		r.origins[c.Path] = nodeOrigin{c.Czxid, c.Owner}
	case proto.OpSetData:
		c.Kind, c.Data = trace.DataChanged, record.Data
		c.Owner, c.Czxid = r.origins[c.Path].owner, r.origins[c.Path].czxid
	case proto.OpDelete, proto.OpDeleteContainer:
		c = r.deleted(c)
	case proto.OpCreateSession:
		c.Kind, c.Owner = trace.SessionStarted, session
	case proto.OpCloseSession:
		return r.sessionEnded(c, session)
	default:
		return nil
	}
	return []trace.Change{c}
}

func (r *logReader) deleted(c trace.Change) trace.Change {
	c.Kind = trace.NodeDeleted
	c.Owner, c.Czxid = r.origins[c.Path].owner, r.origins[c.Path].czxid
	delete(r.origins, c.Path)
	return c
}

// sessionEnded is the end of the session, and then the deletions of its ephemerals.
func (r *logReader) sessionEnded(c trace.Change, session int64) []trace.Change {
	end := c
	end.Kind, end.Owner = trace.SessionEnded, session
	list := []trace.Change{end}
	for _, path := range slices.Sorted(maps.Keys(r.origins)) {
		if r.origins[path].owner == session {
			c.Path = path
			list = append(list, r.deleted(c))
		}
	}
	return list
}

// causes reports whether a change fires an event.
func causes(c trace.Change, ev proto.WatcherEvent) bool {
	switch ev.Type {
	case proto.EventCreated:
		return c.Kind == trace.NodeCreated && c.Path == ev.Path
	case proto.EventDeleted:
		return c.Kind == trace.NodeDeleted && c.Path == ev.Path
	case proto.EventDataChanged:
		return c.Kind == trace.DataChanged && c.Path == ev.Path
	case proto.EventChildrenChanged:
		return (c.Kind == trace.NodeCreated || c.Kind == trace.NodeDeleted) &&
			path.Dir(c.Path) == ev.Path
	}
	return false
}

// nodeOrigin has the fields of a node's creation for the Change that deletes it.
type nodeOrigin struct{ czxid, owner int64 }
