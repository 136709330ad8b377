package engine

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/state"
)

// An ensemble has the servers, and the transactions on their way from the leader to the others.
type ensemble struct {
	servers []*replica // by number
	leader  *replica
	skew    func(server int) int64 // see Config.Skew
	silent  func(server int) bool  // see Config.Silent
	conns   *connections
	journal journal
}

func newEnsemble(cfg Config, conns *connections) ensemble {
	s := ensemble{skew: cfg.Skew, silent: cfg.Silent, conns: conns}
	for range max(1, cfg.Servers) {
		s.servers = append(s.servers, newReplica(cfg))
	}
	s.leader = s.servers[0]
	return s
}

// apply lets the leader apply a transaction and hands it to the followers. The result is valid
// until the next call of apply.
func (s *ensemble) apply(txn state.Txn) *Applied {
	txn.Time = s.leaderTime(txn.Time)
	for _, r := range s.servers {
		if r != s.leader {
			r.unapplied = append(r.unapplied, txn)
		}
	}
	j := &s.journal
	j.applied = append(j.applied, j.applyAt(s.leader, txn))
	a := &j.applied[len(j.applied)-1]
	a.ByServer = txn.Session == 0
	return a
}

// leaderTime is a time by the leader's clock.
func (s *ensemble) leaderTime(now int64) int64 {
	if s.skew == nil {
		return now
	}
	return now + s.skew(s.number(s.leader))
}

// catchUp lets a server apply all that the leader has applied, unless it is apart.
func (s *ensemble) catchUp(r *replica) {
	for len(r.unapplied) > 0 && !r.isApart() {
		s.follow(r)
	}
}

// follow lets a server apply its next transaction.
func (s *ensemble) follow(r *replica) {
	txn := r.unapplied[0]
	r.unapplied = r.unapplied[1:]
	s.journal.followed = append(s.journal.followed, s.journal.applyAt(r, txn))
	for _, change := range txn.Changes {
		if closed, ok := change.(state.CloseSession); ok {
			s.conns.hangUpSession(r, closed.ID)
		}
	}
}

// clearWatches lets each server remove watches of connections that are gone.
func (s *ensemble) clearWatches() {
	for _, r := range s.servers {
		r.watches.begin()
	}
}

// hasWatchesLeft reports whether a server has watches of connections that are gone.
func (s *ensemble) hasWatchesLeft() bool {
	return slices.ContainsFunc(s.servers, func(r *replica) bool { return len(r.watches.gone) > 0 })
}

// reachesLeader reports whether the leader hears of the requests to a server.
func (s *ensemble) reachesLeader(r *replica) bool {
	return r == s.leader || !s.isSilent(r) && !s.isSilent(s.leader) && !r.isApart()
}

// isSilent reports whether a server neither hears of the others nor they of it.
func (s *ensemble) isSilent(r *replica) bool { return s.silent != nil && s.silent(s.number(r)) }

// elect makes another server the leader, which has all transactions: a majority has stored each of
// them.
func (s *ensemble) elect(server int) {
	epoch := (s.leader.store.LastZxid()>>32 + 1) << 32
	s.leader = s.servers[server]
	s.catchUp(s.leader)
	s.leader.store.SkipTo(epoch)
	for _, r := range s.servers {
		if !r.isApart() {
			s.join(r)
		}
	}
}

// join lets a server have all that the leader has.
func (s *ensemble) join(r *replica) {
	s.catchUp(r)
	r.store.SkipTo(s.leader.store.LastZxid())
}

func (s *ensemble) number(r *replica) int { return slices.Index(s.servers, r) }

// A replica is one server of the ensemble: its tree, and the watches of its connections.
type replica struct {
	store     *state.Store
	watches   watches
	order     func(*state.Store, string, int32, []string) // see Config.OrderChildren
	unapplied []state.Txn                                 // applied by the leader, not yet here
	known     map[int64]*session                          // while it is apart; see Engine.Leave
}

func newReplica(cfg Config) *replica {
	return &replica{
		store: state.New(cfg.state()), watches: newWatches(), order: cfg.OrderChildren,
	}
}

// isApart reports whether the others have gone on without the server.
func (r *replica) isApart() bool { return r.known != nil }

// Servers is the number of servers.
func (s *ensemble) Servers() int { return len(s.servers) }

// Leader is the number of the leader.
func (s *ensemble) Leader() int { return s.number(s.leader) }

// Next is the zxid of the next transaction that a server has to apply, if there is one. A server
// that is apart has none to apply until it joins the others.
func (s *ensemble) Next(server int) (zxid int64, ok bool) {
	r := s.servers[server]
	if len(r.unapplied) == 0 || r.isApart() {
		return 0, false
	}
	return r.unapplied[0].Zxid, true
}

// Follow lets a server apply the transactions up to a zxid, and notify its watchers.
func (e *Engine) Follow(server int, zxid int64, now time.Time) Reaction {
	e.begin(now.UnixMilli())
	r := e.ensemble.servers[server]
	for next, ok := e.Next(server); ok && next <= zxid; next, ok = e.Next(server) {
		e.ensemble.follow(r)
	}
	return e.reaction()
}

// Elect makes another server the leader. All connections are closed, the expiry timers of the
// sessions restart, and the zxids of the next epoch begin. Every server applies the missing
// transactions before it serves again, but for those that are apart.
//
// Source: Leader.startZkServer, LearnerHandler.
func (e *Engine) Elect(server int, now time.Time) Reaction {
	reaction := e.Restart(now)
	e.ensemble.elect(server)
	return reaction
}

// SetCreated sets the number of the next sequential child of a node, at every server. No server may
// be behind.
func (s *ensemble) SetCreated(path string, next int32) {
	for _, r := range s.servers {
		r.store.SetCreated(path, next)
	}
}

// Clear removes all nodes but the servers' own, at every server. There must be no session.
func (e *Engine) Clear(now time.Time) Reaction {
	e.begin(now.UnixMilli())
	if len(e.sessions.byID) > 0 {
		panic("engine: clear with sessions")
	}
	for _, r := range e.ensemble.servers {
		e.ensemble.catchUp(r)
	}
	for _, r := range e.ensemble.servers {
		r.store.Clear()
	}
	e.reaper.queue = nil
	return e.reaction()
}

// SkipTo makes the next transaction's zxid greater than a given one, unless it would be anyway. No
// server may be behind.
func (s *ensemble) SkipTo(zxid int64) {
	for _, r := range s.servers {
		r.store.SkipTo(zxid)
	}
}
