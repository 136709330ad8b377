package sim

import (
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

// serverName is how the trace calls a server: they have the numbers from 1, as in a zoo.cfg.
func serverName(server int) string { return fmt.Sprintf("server %d", server+1) }

// replicas are the servers of an ensemble: when each applies what the leader has applied, which of
// them are down or cut off, and who leads.
type replicas struct {
	number  int
	engine  *engine.Engine
	agenda  *agenda.Agenda
	draws   draws.Draws
	record  *record.Recorder
	faults  *carry.Network
	perform func([]carry.Action)
	react   func(engine.Reaction)        // of a follower
	turn    func(server int, zxid int64) // adds a thing, or nil

	followed []time.Duration // when each server has applied what it is to apply so far
	states   []trace.ServerState
}

// replicate plans when each server applies a transaction, after all before it.
func (s *replicas) replicate(zxid int64) {
	if s.number == 1 {
		return
	}
	for server := range s.number {
		if s.turn != nil {
			s.turn(server, zxid)
			continue
		}
		at := max(s.agenda.Now()+s.delay(server, zxid), s.followed[server]+1)
		s.followed[server] = s.agenda.Schedule(at, func() { s.follow(server, zxid) })
	}
}

// MostLag is how long a follower takes at most to apply a transaction, without faults.
const MostLag = slow * draws.MostLatency

// slow is how much slower than a message a slow follower is.
const slow = 100

// delay is how long a server takes to apply a transaction. By the seed one follower in three is
// slow.
func (s *replicas) delay(server int, zxid int64) time.Duration {
	delay := s.draws.Replication(server, zxid)
	if server != s.engine.Leader() && s.draws.IsSlow(server) {
		delay *= slow
	}
	return delay
}

// follow lets a server apply transactions, unless a client has made it do so before. One that is
// down, or a follower that is cut off or lags by a fault, does so later.
func (s *replicas) follow(server int, zxid int64) {
	now := s.agenda.Now()
	at := max(s.faults.BackAt(server, now), s.faults.PausedUntil(server, now))
	if server != s.engine.Leader() {
		at = max(at, s.faults.AloneUntil(server, now), s.faults.LagsUntil(server))
	}
	if at > now {
		s.agenda.Schedule(at, func() { s.follow(server, zxid) })
		return
	}
	if next, behind := s.engine.Next(server); !behind || next > zxid {
		return
	}
	s.record.Log("server", "%s applies zxid %d", serverName(server), zxid)
	s.react(s.engine.Follow(server, zxid, s.agenda.Clock()))
}

// leaderEndsSessions reports whether there is a leader that can: it is up, and has a majority.
func (s *replicas) leaderEndsSessions() bool {
	leader, now := s.engine.Leader(), s.agenda.Now()
	return !s.faults.IsDown(leader, now) && s.faults.AloneUntil(leader, now) == 0
}

// followAll lets all followers apply everything.
func (s *replicas) followAll() {
	for server := range s.number {
		s.follow(server, s.engine.Store().LastZxid())
	}
}

// isolate cuts a server off from the others: it applies nothing, or if it leads no other does,
// and it gives up after a while.
func (s *replicas) isolate(server int, f *carry.Armed, until time.Duration) {
	s.record.Log("server", "%s is cut off from the others for %s", serverName(server), f.For)
	if at := s.faults.GivesUpAt(server, s.agenda.Now()); at > 0 {
		s.agenda.Schedule(at, func() { s.giveUp(server) })
	}
	s.agenda.Schedule(until, func() { s.rejoin(server) })
	if s.faults.BackAt(server, s.agenda.Now()) == until { // put off
		s.electWithout(server)
	}
}

// electWithout elects another leader while none serves, if a server that is to be back later now
// was to lead, or to make the majority.
func (s *replicas) electWithout(server int) {
	leader := s.engine.Leader()
	serves := s.faults.BackAt(leader, s.agenda.Now())
	if serves > 0 && (server == leader || s.faults.QuorumAt(s.agenda.Now()) > serves) {
		marks.Hit("server put off again")
		s.elect()
	}
}

// rejoin lets a server catch up with the others, and the others with it.
func (s *replicas) rejoin(server int) {
	if s.faults.Healed() {
		return
	}
	if s.faults.IsCutOff(server, s.agenda.Now()) {
		marks.Hit("isolated for longer")
		return
	}
	s.record.Log("server", "%s reaches the others again", serverName(server))
	s.faults.Rejoin(server)
	s.followAll()
}

// giveUp takes a server down that has been cut off for too long, until it is back with the others.
// If it leads, the others elect another leader first, and it gives up when it notices.
func (s *replicas) giveUp(server int) {
	if s.faults.Healed() || s.faults.IsDown(server, s.agenda.Now()) {
		return
	}
	if server == s.engine.Leader() {
		s.elect()
		return
	}
	s.perform(s.faults.TakeDown(server, s.agenda.Now()+electionTime))
	s.lose(server, s.faults.BackAt(server, s.agenda.Now())-s.agenda.Now())
}

// electionTime is how long an ensemble takes to elect a leader, in which no server serves.
const electionTime = 500 * time.Millisecond

// lose elects a leader when a server goes down, as soon as a majority is up, if the server was
// the leader or no majority is left.
func (s *replicas) lose(server int, down time.Duration) {
	s.record.Log("server", "%s goes down for %s", serverName(server), down)
	if server == s.engine.Leader() || s.faults.LacksQuorum(s.agenda.Now()) {
		s.elect()
	}
}

// elect makes a server the leader that is up when a majority is. No server serves before.
func (s *replicas) elect() { s.electFor(electionTime) }

// electFor is elect in an election that takes a while.
func (s *replicas) electFor(takes time.Duration) {
	s.leaveUnaware()
	quorum := s.faults.QuorumAt(s.agenda.Now())
	up, joining := s.faults.Electable(quorum, s.agenda.Now())
	for _, server := range joining {
		s.join(server, quorum)
	}
	leader := up[s.draws.Leader(s.engine.Store().LastZxid(), len(up))]
	serves := quorum + takes
	s.record.Log("server", "%s is elected and leads from %.6fs on", serverName(leader),
		serves.Seconds())
	s.engine.Elect(leader, s.agenda.At(serves))
	s.perform(s.faults.TakeDownOthers(serves))
}
