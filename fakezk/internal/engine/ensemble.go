package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/state"
)

// A replica is one server of the ensemble: its tree, and the watches of its connections.
type replica struct {
	store     *state.Store
	watches   watches
	unapplied []state.Txn // applied by the leader and not yet here, in order
	cutOff    bool        // from the other servers
}

func newReplica(cfg Config) *replica {
	return &replica{store: state.New(cfg.state()), watches: newWatches()}
}

// propose hands a transaction of the leader to the followers.
func (e *Engine) propose(txn state.Txn) {
	for _, r := range e.replicas {
		if r != e.leader {
			r.unapplied = append(r.unapplied, txn)
		}
	}
}

// leaderTime is a time by the leader's clock.
func (e *Engine) leaderTime(now int64) int64 {
	if e.cfg.Skew == nil {
		return now
	}
	return now + e.cfg.Skew(e.Leader())
}

// Next is the zxid of the next transaction that a server has to apply, if there is one.
func (e *Engine) Next(server int) (zxid int64, ok bool) {
	behind := e.replicas[server].unapplied
	if len(behind) == 0 {
		return 0, false
	}
	return behind[0].Zxid, true
}

// Follow lets a server apply the transactions up to a zxid, and notify its watchers.
func (e *Engine) Follow(server int, zxid int64, now time.Time) Reaction {
	e.begin(now.UnixMilli())
	r := e.replicas[server]
	for len(r.unapplied) > 0 && r.unapplied[0].Zxid <= zxid {
		e.follow(r)
	}
	return e.reaction()
}

// Servers is the number of servers.
func (e *Engine) Servers() int { return len(e.replicas) }

// Leader is the number of the leader.
func (e *Engine) Leader() int { return slices.Index(e.replicas, e.leader) }

// Lagging lists the followers that are behind when a server lags: the server itself or, if it
// leads, all others.
func (e *Engine) Lagging(server int) (followers []int) {
	for i, r := range e.replicas {
		if r != e.leader && (i == server || e.replicas[server] == e.leader) {
			followers = append(followers, i)
		}
	}
	return followers
}

// CutOff says whether a server is cut off from the others. The leader then hears of no requests
// that the clients of the server send, so that their sessions end in time.
func (e *Engine) CutOff(server int, cutOff bool) { e.replicas[server].cutOff = cutOff }

// reachesLeader reports whether the leader hears of the requests to a server.
func (e *Engine) reachesLeader(r *replica) bool {
	return r == e.leader || !r.cutOff && !e.leader.cutOff
}

// Elect makes another server the leader, which has all transactions: a majority has stored each of
// them. All connections are closed, the expiry timers of the sessions restart, and the zxids of the
// next epoch begin. Every server applies the missing transactions before it serves again.
//
// Source: Leader.startZkServer, LearnerHandler.
func (e *Engine) Elect(server int, now time.Time) Reaction {
	reaction := e.Restart(now)
	epoch := (e.leader.store.LastZxid()>>32 + 1) << 32
	e.leader = e.replicas[server]
	for _, r := range e.replicas {
		e.catchUp(r)
		r.store.SkipTo(epoch)
	}
	return reaction
}

// SetCreated sets the number of the next sequential child of a node, at every server. No server may
// be behind.
func (e *Engine) SetCreated(path string, next int32) {
	for _, r := range e.replicas {
		r.store.SetCreated(path, next)
	}
}

// SkipTo makes the next transaction's zxid greater than a given one, unless it would be anyway. No
// server may be behind.
func (e *Engine) SkipTo(zxid int64) {
	for _, r := range e.replicas {
		r.store.SkipTo(zxid)
	}
}

// catchUp lets a server apply all that the leader has applied.
func (e *Engine) catchUp(r *replica) {
	for len(r.unapplied) > 0 {
		e.follow(r)
	}
}

// follow lets a server apply its next transaction.
func (e *Engine) follow(r *replica) {
	txn := r.unapplied[0]
	r.unapplied = r.unapplied[1:]
	e.followed = append(e.followed, e.applyAt(r, txn))
	for _, change := range txn.Changes {
		if closed, ok := change.(state.CloseSession); ok {
			e.hangUpSession(r, closed.ID)
		}
	}
}

// hangUpSession closes the connections of a session that has ended, but for the one on which the
// client has closed it.
func (e *Engine) hangUpSession(r *replica, session int64) {
	var ended []*conn
	for _, c := range e.conns {
		if c.at == r && c.sessionID() == session && !c.closes {
			ended = append(ended, c)
		}
	}
	slices.SortFunc(ended, func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
	for _, c := range ended {
		e.hangUp(c)
	}
}

// sessionMoved reports whether the session of a connection has gone to another server. The leader
// then refuses what comes through the old one, which closes the connection.
//
// Source: SessionTrackerImpl.checkSession; FinalRequestProcessor, SessionMovedException.
func (e *Engine) sessionMoved(c *conn) bool {
	return c.session.owner != c.id
}
