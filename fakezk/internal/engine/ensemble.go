package engine

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/state"
)

// An ensemble has the servers, and the transactions on their way from the leader to the others.
type ensemble struct {
	decided *state.Store // the tree with all transactions; the server's own if there is only one
	servers []*replica   // by number
	leader  *replica
	skew    func(server int) int64 // see Config.Skew
	silent  func(server int) bool  // see Config.Silent
	conns   *connections
	journal journal
	pingAt  int64 // ms, when the leader next hears of touched sessions, or never
}

func newEnsemble(cfg Config, conns *connections) ensemble {
	s := ensemble{skew: cfg.Skew, silent: cfg.Silent, conns: conns,
		pingAt: never}
	for range max(1, cfg.Servers) {
		s.servers = append(s.servers, newReplica(cfg))
	}
	s.leader = s.servers[0]
	s.decided = s.leader.store
	if !s.alone() {
		s.decided = state.New(cfg.state())
	}
	return s
}

// alone reports whether there is a single server.
func (s *ensemble) alone() bool { return len(s.servers) == 1 }

// apply applies a transaction that the leader has decided. A single server has applied it then;
// with several, a majority has stored it, and each of them is to apply it, the leader too. The
// result is valid until the next call of apply.
//
// Source: a follower commits when it hears of the majority, and the leader by its own
// CommitProcessor, which may be later.
func (s *ensemble) apply(txn state.Txn) *Applied {
	txn.Time = s.leaderTime(txn.Time)
	j := &s.journal
	if s.alone() {
		j.applied = append(j.applied, j.applyAt(s.leader, txn))
	} else {
		for _, r := range s.servers {
			r.unapplied = append(r.unapplied, txn)
		}
		j.applied = append(j.applied, Applied{Txn: txn, Result: s.decided.Apply(txn)})
	}
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

// catchUp lets a server apply all that the leader has decided, unless it is apart.
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

// elect makes another server the leader. All that are not apart have all transactions then. The
// leader alone has the first zxid of its epoch, until the first write.
//
// Source: Leader.lead; Learner.syncWithLeader.
func (s *ensemble) elect(server int) {
	epoch := (s.decided.LastZxid()>>32 + 1) << 32
	s.leader = s.servers[server]
	for _, r := range s.servers {
		s.catchUp(r)
	}
	s.decided.SkipTo(epoch)
	s.leader.store.SkipTo(epoch)
}

func (s *ensemble) number(r *replica) int { return slices.Index(s.servers, r) }

// A replica is one server of the ensemble: its tree, and the watches of its connections.
type replica struct {
	store     *state.Store
	watches   watches
	order     func(*state.Store, string, int32, []string) // see Config.OrderChildren
	unapplied []state.Txn                                 // decided by the leader, not yet here
	known     map[int64]*session                          // while it is apart; see Engine.Leave
	touched   map[int64]bool                              // sessions, as the leader does not know
	missed    bool                                        // a ping of the leader
}

func newReplica(cfg Config) *replica {
	return &replica{
		store: state.New(cfg.state()), watches: newWatches(), order: cfg.OrderChildren,
		touched: map[int64]bool{},
	}
}

// isApart reports whether the others have gone on without the server.
func (r *replica) isApart() bool { return r.known != nil }

// Servers is the number of servers.
func (s *ensemble) Servers() int { return len(s.servers) }

// Leader is the number of the leader.
func (s *ensemble) Leader() int { return s.number(s.leader) }

// Next is the zxid of the next transaction that a server has to apply, if there is one.
func (s *ensemble) Next(server int) (zxid int64, ok bool) {
	unapplied := s.Unapplied(server)
	if len(unapplied) == 0 {
		return 0, false
	}
	return unapplied[0].Zxid, true
}

// Unapplied are the transactions that a server has to apply, in order. Those of one that is apart
// are none until it joins the others.
func (s *ensemble) Unapplied(server int) []state.Txn {
	r := s.servers[server]
	if r.isApart() {
		return nil
	}
	return r.unapplied
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
	for _, store := range s.stores() {
		store.SetCreated(path, next)
	}
}

// stores are all trees.
func (s *ensemble) stores() []*state.Store {
	list := []*state.Store{s.decided}
	for _, r := range s.servers {
		if r.store != s.decided {
			list = append(list, r.store)
		}
	}
	return list
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
	for _, store := range e.stores() {
		store.Clear()
	}
	e.reaper.queue = nil
	return e.reaction()
}

// SkipTo makes the next transaction's zxid greater than a given one, unless it would be anyway. No
// server may be behind.
func (s *ensemble) SkipTo(zxid int64) {
	for _, store := range s.stores() {
		store.SkipTo(zxid)
	}
}
