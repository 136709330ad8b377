package realworld

import (
	"cmp"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// exchanges are the requests that went to the servers, with their answers, and the notifications.
type exchanges struct {
	ensemble bool
	guest    bool              // there is no log
	requests []*request        // in order
	calls    map[call]*request // by their names in the log
	events   []event
}

// call names a request as the transaction log does. A handshake that asks for a
// new session has the xid 0.
type call struct {
	session int64
	xid     int32
}

// callOf names the request behind an entry.
func callOf(e proto.LogEntry) call {
	if e.Op == proto.OpCreateSession {
		return call{e.Session, 0}
	}
	if e.Cxid == 0 {
		return call{}
	}
	return call{e.Session, e.Cxid}
}

// event is a notification that the server sent: it told a session of the first
// change of its kind behind a zxid.
type event struct {
	session int64
	after   int64
	event   proto.WatcherEvent
}

// asked notes a request on its way to the server.
func (x *exchanges) asked(session int64, q *request) {
	x.requests = append(x.requests, q)
	if !q.Handshake && q.Header.Xid > 0 {
		x.calls[call{session, q.Header.Xid}] = q
	}
}

// greeted notes the handshake that began a session: the first one.
func (x *exchanges) greeted(session int64, q *request) {
	if first := (call{session, 0}); x.calls[first] == nil {
		x.calls[first] = q
	}
}

// notified notes a notification for a session that knows the changes up to a zxid.
func (x *exchanges) notified(session, after int64, ev proto.WatcherEvent) {
	x.events = append(x.events, event{session, after, ev})
}

// behind is the request behind an entry of the log, nil if no client has sent one.
func (x *exchanges) behind(e proto.LogEntry) *request { return x.calls[callOf(e)] }

// closedBy is the xid of the request by which a client has closed its session, 0 if there is none.
func (x *exchanges) closedBy(session int64) int32 {
	for _, q := range x.requests {
		if q.Header.Op == proto.OpCloseSession && q.Session == session {
			return q.Header.Xid
		}
	}
	return 0
}

// countNotified counts, for each change, the notifications that it caused: each was
// due to the first change of its kind behind the newest that its session had heard
// of. Those to the session that made the change do not count.
func (x *exchanges) countNotified(list []placedChange) {
	for _, ev := range x.events {
		from, _ := slices.BinarySearchFunc(list, ev.after+1, func(c placedChange, zxid int64) int {
			return cmp.Compare(c.Zxid, zxid)
		})
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
