package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// Store is the tree, for those who look at it directly. Write through Submit.
func (e *Engine) Store() *state.Store { return e.store }

// Submit applies a request on behalf of the server itself: no session, no ACL.
func (e *Engine) Submit(req proto.Request, now time.Time) (state.Result, Reaction) {
	e.begin()
	res := e.apply(e.store.Prepare(req, state.Caller{Super: true}, now.UnixMilli()))
	return res, Reaction{Out: e.out, Applied: e.applied}
}

// SessionView describes a live session.
type SessionView struct {
	ID      int64
	Timeout time.Duration
	// Conn is its connection, 0 if it has none now.
	Conn ConnID
	// Ended says that the session is refused already, only its ephemerals stay.
	Ended bool
}

// Sessions lists the live sessions in order of id.
func (e *Engine) Sessions() []SessionView {
	views := make([]SessionView, 0, len(e.sessions))
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		s := e.sessions[id]
		views = append(views, SessionView{
			ID: id, Timeout: time.Duration(s.timeoutMs) * time.Millisecond, Conn: s.conn, Ended: s.ended,
		})
	}
	return views
}

// SessionOf is the session of a connection, 0 if it has none.
func (e *Engine) SessionOf(id ConnID) int64 {
	if c := e.conns[id]; c != nil {
		return c.session
	}
	return 0
}

// WatchView describes one registered watch.
type WatchView struct {
	Path    string
	Child   bool
	Conn    ConnID
	Session int64
}

// Watches lists the registered watches by path, data before child, then by connection.
func (e *Engine) Watches() []WatchView {
	var views []WatchView
	collect := func(table map[string]map[ConnID]bool, child bool) {
		for _, path := range slices.Sorted(maps.Keys(table)) {
			for _, id := range slices.Sorted(maps.Keys(table[path])) {
				views = append(views, WatchView{Path: path, Child: child, Conn: id, Session: e.SessionOf(id)})
			}
		}
	}
	collect(e.watches.data, false)
	collect(e.watches.child, true)
	return views
}
