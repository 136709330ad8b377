package sim

import (
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
)

// MaxServers is the greatest number of servers of a World.
const MaxServers = carry.MaxServers

// addresses are those of the servers, by number.
var addresses = carry.Addresses(MaxServers)

func (w World) servers() int { return max(1, w.Servers) }

// serverName is how the trace calls a server: they have the numbers from 1, as in a zoo.cfg.
func serverName(server int) string { return fmt.Sprintf("server %d", server+1) }

// toServer is the part of a line that says which of several servers a client has reached.
func (s *simulation) toServer(server int) string {
	if s.world.servers() == 1 {
		return ""
	}
	return " to " + serverName(server)
}

// replicate plans when each follower applies a transaction, after all before it.
func (s *simulation) replicate(zxid int64) {
	if s.world.servers() == 1 {
		return
	}
	for server := range s.world.servers() {
		if server == s.engine.Leader() {
			continue
		}
		at := max(s.agenda.Now()+s.lag(server, zxid), s.followed[server]+1)
		s.followed[server] = s.agenda.Schedule(at, func() { s.follow(server, zxid) })
	}
}

// MostLag is how long a follower takes at most to apply a transaction, without faults.
const MostLag = slow * draws.MostLatency

// slow is how much slower than a message a slow follower is.
const slow = 100

// lag is how long a follower takes to apply a transaction. By the seed one in three is slow.
func (s *simulation) lag(server int, zxid int64) time.Duration {
	lag := s.draws.Replication(server, zxid)
	if s.draws.IsSlow(server) {
		lag *= slow
	}
	return lag
}

// follow lets a follower apply transactions, unless a client has made it do so before. One that is
// down, cut off, or that lags by a fault, does so later.
func (s *simulation) follow(server int, zxid int64) {
	now := s.agenda.Now()
	at := max(s.net.BackAt(server, now), s.net.AloneUntil(server, now), s.lagging[server])
	if at > now {
		s.agenda.Schedule(at, func() { s.follow(server, zxid) })
		return
	}
	if next, behind := s.engine.Next(server); !behind || next > zxid {
		return
	}
	s.record.Log("server", "%s applies zxid %d", serverName(server), zxid)
	s.react(withoutOwnDeletions(s.engine.Follow(server, zxid, s.agenda.Clock())))
}

// followAll lets all followers apply everything.
func (s *simulation) followAll() {
	for server := range s.world.servers() {
		s.follow(server, s.engine.Store().LastZxid())
	}
}

// startLag keeps a server, or all followers if it leads, from applying changes.
func (s *simulation) startLag(server int, f *carry.Armed, until time.Duration) {
	for _, server := range s.engine.Lagging(server) {
		s.record.Log("server", "%s lags for %s", serverName(server), f.For)
		s.lagging[server] = max(s.lagging[server], until)
	}
}

// startIsolation cuts a server off from the others: it applies nothing, or if it leads no other
// does, and it gives up after a while.
func (s *simulation) startIsolation(server int, f *carry.Armed, until time.Duration) {
	s.record.Log("server", "%s is cut off from the others for %s", serverName(server), f.For)
	s.engine.CutOff(server, true)
	if at := s.net.GivesUpAt(server, s.agenda.Now()); at > 0 {
		s.agenda.Schedule(at, func() { s.giveUp(server) })
	}
	s.agenda.Schedule(until, func() { s.rejoin(server) })
	if s.net.BackAt(server, s.agenda.Now()) == until { // put off
		s.electWithout(server)
	}
}

// electWithout elects another leader while none serves, if a server that is to be back later now
// was to lead, or to make the majority.
func (s *simulation) electWithout(server int) {
	leader := s.engine.Leader()
	serves := s.net.BackAt(leader, s.agenda.Now())
	if serves > 0 && (server == leader || s.quorumAt() > serves) {
		s.elect()
	}
}

// rejoin lets a server catch up with the others, and the others with it.
func (s *simulation) rejoin(server int) {
	if s.net.Healed() || s.net.IsCutOff(server, s.agenda.Now()) {
		return
	}
	s.record.Log("server", "%s reaches the others again", serverName(server))
	s.net.Rejoin(server)
	s.engine.CutOff(server, false)
	s.followAll()
}

// giveUp takes a server down that has been cut off for too long, until it is back with the others.
func (s *simulation) giveUp(server int) {
	if s.net.Healed() || s.net.IsDown(server, s.agenda.Now()) {
		return
	}
	s.carryOut(s.net.TakeDown(server, s.agenda.Now()+electionTime))
	s.loseServer(server, s.net.BackAt(server, s.agenda.Now())-s.agenda.Now())
}

// electionTime is how long an ensemble takes to elect a leader, in which no server serves.
const electionTime = 500 * time.Millisecond

// loseServer elects a leader when a server goes down, as soon as a majority is up, if the server
// was the leader or no majority is left.
func (s *simulation) loseServer(server int, down time.Duration) {
	s.record.Log("server", "%s goes down for %s", serverName(server), down)
	if server == s.engine.Leader() || s.quorumAt() > s.agenda.Now() {
		s.elect()
	}
}

// elect makes a server the leader that is up when a majority is. No server serves before.
func (s *simulation) elect() {
	quorum := s.quorumAt()
	var up []int
	for i := range s.world.servers() {
		if s.net.AwayUntil(i, s.agenda.Now()) <= quorum {
			up = append(up, i)
		}
	}
	leader := up[s.draws.Leader(s.engine.Store().LastZxid(), len(up))]
	serves := quorum + electionTime
	s.record.Log("server", "%s is elected and leads from %.6fs on", serverName(leader), serves.Seconds())
	s.engine.Elect(leader, s.agenda.At(serves))
	for i := range s.world.servers() {
		s.carryOut(s.net.TakeDown(i, serves))
	}
}

// quorumAt is when a majority of the servers is up.
func (s *simulation) quorumAt() time.Duration {
	var back []time.Duration
	for i := range s.world.servers() {
		back = append(back, max(s.agenda.Now(), s.net.AwayUntil(i, s.agenda.Now())))
	}
	return carry.QuorumAt(s.world.servers(), back)
}
