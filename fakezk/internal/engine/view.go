package engine

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// Store returns the tree with all that the leader has decided, for reading. Write through Submit.
func (s *ensemble) Store() *state.Store { return s.decided }

// StoreOf returns the tree of a server, for reading.
func (s *ensemble) StoreOf(server int) *state.Store { return s.servers[server].store }

// Submit applies a request on behalf of the server itself: no session, no ACL.
func (e *Engine) Submit(req proto.Request, now time.Time) (state.Result, Reaction) {
	return e.SubmitTxn(e.Prepare(req, now), now)
}

// Prepare decides the effect of a request on behalf of the server itself, and changes nothing.
func (e *Engine) Prepare(req proto.Request, now time.Time) state.Txn {
	return e.Store().Prepare(req, state.Caller{Super: true}, now.UnixMilli())
}

// SubmitTxn applies a transaction of Prepare, since which nothing was applied.
func (e *Engine) SubmitTxn(txn state.Txn, now time.Time) (state.Result, Reaction) {
	e.begin(now.UnixMilli())
	res := e.ensemble.apply(txn).Result
	return res, e.reaction()
}

// SessionView describes a live session.
type SessionView struct {
	ID      int64
	Timeout time.Duration
	// Conn is its connection, 0 if it has none now.
	Conn ConnID
	// Server is the number of the server of this connection, -1 without one.
	Server int
	// ExpiresAt is the end of the tick in which it expires without further requests, if no
	// follower goes down before the leader has heard of the last one.
	ExpiresAt time.Time
	// Ended says that the session is refused, although its ephemerals still exist.
	Ended bool
}

// Sessions lists the live sessions in order of id.
func (e *Engine) Sessions() []SessionView {
	views := make([]SessionView, 0, len(e.sessions.byID))
	for _, s := range e.sessions.inOrder() {
		views = append(views, SessionView{
			ID: s.id, Timeout: msDuration(s.timeoutMs), Conn: s.conn.connID(),
			Server:    e.ensemble.serverOf(s.conn),
			ExpiresAt: time.UnixMilli(e.expiresAt(s)), Ended: s.ended,
		})
	}
	return views
}

// serverOf is the number of the server of a connection, -1 for a nil connection.
func (s *ensemble) serverOf(c *conn) int {
	if c == nil {
		return -1
	}
	return s.number(c.at)
}

func msDuration(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// ConnView describes an open connection.
type ConnView struct {
	ID ConnID
	// Server is the number of its server.
	Server int
	// IP is its address, as given to Open.
	IP string
	// Session is 0 before the handshake. Timeout is then the time for the handshake.
	Session int64
	Timeout time.Duration
	Opened  time.Time
	// Received and Sent count frames, since the start or since ResetConnStats.
	Received, Sent int64
	// Queued counts requests without a reply, including requests that never get
	// one and pings with an xid above 0.
	Queued int64
	// EverWatched says that the connection has had a data watch; the real
	// server's four-letter word wchs counts it from then on.
	EverWatched bool
	// LastOp is the last answered operation, as the four-letter word cons
	// abbreviates it: "SESS", "PING", "CREA", ... "NA" is a refused write, or no
	// operation since ResetConnStats; "null" is no operation ever.
	LastOp string
	// LastCxid is the last xid of 0 or more, -1 if there was none since ResetConnStats.
	LastCxid int32
	// LastZxid is the zxid of the last reply, and LastResponse its time; the
	// zero time means that there was none.
	LastZxid     int64
	LastResponse time.Time
}

// Conns lists the open connections in order of id, including connections without a handshake.
func (e *Engine) Conns() []ConnView {
	views := make([]ConnView, 0, len(e.conns.open))
	for _, id := range slices.Sorted(maps.Keys(e.conns.open)) {
		c := e.conns.open[id]
		views = append(views, c.view(e.ensemble.serverOf(c)))
	}
	return views
}

func (c *conn) view(server int) ConnView {
	v := ConnView{
		ID: c.id, Server: server, IP: c.ip, Timeout: msDuration(sessionlessMs),
		Opened:   time.UnixMilli(c.opened),
		Received: c.stats.Received, Sent: c.stats.Sent, Queued: c.queued,
		EverWatched: c.dataWatches != nil, LastOp: c.stats.last.abbreviation(),
		LastCxid: c.stats.lastCxid, LastZxid: c.stats.lastZxid,
	}
	if s := c.session; s != nil {
		v.Session, v.Timeout = s.id, msDuration(s.timeoutMs)
	}
	if c.stats.lastResponse != 0 {
		v.LastResponse = time.UnixMilli(c.stats.lastResponse)
	}
	return v
}

// connID returns 0 for a nil connection.
func (c *conn) connID() ConnID {
	if c == nil {
		return 0
	}
	return c.id
}

// SessionOf returns the session of a connection, 0 if it has none.
func (e *Engine) SessionOf(id ConnID) int64 {
	return e.conns.open[id].sessionID()
}

// Refuses reports whether the leader would refuse a write of a connection now.
func (e *Engine) Refuses(id ConnID, write proto.Request, now time.Time) bool {
	c := e.conns.open[id]
	return c != nil && c.session != nil &&
		e.Store().Prepare(write, c.caller(), now.UnixMilli()).Err != proto.OK
}

// LostWatches reports whether the last connection of a live session had a watch when it ended.
func (e *Engine) LostWatches(session int64) bool {
	s := e.sessions.byID[session]
	return s != nil && s.watched
}

// WatchView describes one registered watch.
type WatchView struct {
	Path    string
	Child   bool
	Mode    WatchMode
	Conn    ConnID
	Server  int // of the connection
	Session int64
}

// Watches lists the registered watches: by server, data before child, by path, then by
// connection. A watch of addWatch is listed twice, as data and as child.
func (e *Engine) Watches() []WatchView {
	var views []WatchView
	for id := range e.conns.open {
		views = slices.AppendSeq(views, e.WatchesOf(id))
	}
	SortWatches(views)
	return views
}

// WatchesOf has the watches of a connection, in any order. Between two of them the engine may be
// called: watches that come or go then may be missing.
func (e *Engine) WatchesOf(id ConnID) iter.Seq[WatchView] {
	return func(yield func(WatchView) bool) {
		c := e.conns.open[id]
		if c == nil {
			return
		}
		v := WatchView{Conn: id, Server: e.ensemble.serverOf(c), Session: c.sessionID()}
		for _, modes := range []map[string]WatchMode{c.dataWatches, c.childWatches} {
			for v.Path, v.Mode = range modes {
				if !yield(v) {
					return
				}
			}
			v.Child = true
		}
	}
}

// SortWatches puts watches into the order of [Engine.Watches].
func SortWatches(views []WatchView) {
	slices.SortFunc(views, func(a, b WatchView) int {
		child := 0
		if a.Child != b.Child {
			child = 1
			if b.Child {
				child = -1
			}
		}
		return cmp.Or(cmp.Compare(a.Server, b.Server), child, cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Conn, b.Conn))
	})
}

// WatchCount is the number of watches at a server. A watch of addWatch counts twice, as data and as
// child.
func (e *Engine) WatchCount(server int) int {
	total := 0
	for _, c := range e.conns.open {
		if c.at == e.ensemble.servers[server] {
			total += len(c.dataWatches) + len(c.childWatches)
		}
	}
	return total
}
