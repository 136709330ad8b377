package fakezk

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
)

// ensemble is the state of the servers of a Server, by number from 0.
type ensemble struct {
	stopped   []bool    // by Stop
	hasLeader bool      // there is a leader
	servesAt  time.Time // no server serves before
}

// halted reports whether calls of Stop have left no majority, so that no server serves.
func (e *ensemble) halted() bool {
	up := 0
	for _, stopped := range e.stopped {
		if !stopped {
			up++
		}
	}
	return up <= len(e.stopped)/2
}

// Addresses are the addresses of the servers, by number, for zk.Connect together with Dialer.
func (s *Server) Addresses() []string {
	return carry.Addresses(s.opts.Servers)
}

// Stop makes servers, given by their numbers from 1, unreachable: their connections are closed, and
// dials are refused. Without a number it means all. Data and sessions stay. If the leader stops,
// another server leads at once, and all connections are closed. Without a majority no server
// serves, and no session expires. Stop panics if there is no server of a number.
func (s *Server) Stop(servers ...int) {
	list := s.byNumber(servers)
	s.lockAndInterrupt()
	defer s.mu.Unlock()
	s.recorder.call("stop", "", "%s", numbersText(servers))
	s.stop(list)
}

// Restart makes servers that are stopped reachable again, with their data; those that run are
// stopped first. The arguments are those of Stop. When a single server restarts, or a majority is
// back, every session gets its full timeout from now.
func (s *Server) Restart(servers ...int) {
	list := s.byNumber(servers)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.recorder.call("restart", "", "%s", numbersText(servers))
	s.stop(list)
	for _, server := range list {
		s.ensemble.stopped[server] = false
		if s.inject != nil {
			s.inject.revive(server)
		}
	}
	s.settle()
	s.follow()
	s.schedule()
}

// Leader is the number of the leader, or 0 if there is none, for instance without a majority. A
// single server leads itself.
func (s *Server) Leader() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if leader := s.engine.Leader(); s.serves(leader) {
		return leader + 1
	}
	return 0
}

// Serves reports whether a server, by its number from 1, accepts connections: it is neither stopped
// nor taken down by a fault, and there is a leader.
func (s *Server) Serves(server int) bool {
	list := s.byNumber([]int{server})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serves(list[0])
}

func (s *Server) serves(server int) bool {
	return !s.closed && !s.ensemble.halted() && !s.ensemble.stopped[server] &&
		!time.Now().Before(s.ensemble.servesAt) && s.timeDown(server) == 0
}

// numbersText is the end of a line of the trace.
func numbersText(servers []int) string {
	return strings.Trim(fmt.Sprint(servers), "[]")
}

// byNumber turns numbers from 1 into numbers from 0. None means all.
func (s *Server) byNumber(servers []int) []int {
	if len(servers) == 0 {
		return s.all()
	}
	var list []int
	for _, number := range servers {
		if number < 1 || number > s.opts.Servers {
			panic(fmt.Sprintf("fakezk: there is no server %d; expected 1 to %d", number,
				s.opts.Servers))
		}
		list = append(list, number-1)
	}
	return list
}

// all lists the numbers of all servers, from 0.
func (s *Server) all() (servers []int) {
	for i := range s.opts.Servers {
		servers = append(servers, i)
	}
	return servers
}

// stop stops servers. The lock is held.
func (s *Server) stop(servers []int) {
	for _, server := range servers {
		s.ensemble.stopped[server] = true
	}
	for _, l := range s.linksOf(nil) {
		if s.ensemble.stopped[l.server] {
			s.hangUp(l)
		}
	}
	s.settle()
}

// settle elects a leader, if one is needed, after servers have gone down or come back.
func (s *Server) settle() {
	if s.ensemble.halted() {
		s.ensemble.hasLeader = false
		s.unschedule()
		s.endAll(s.engine.Restart(time.Now()))
		return
	}
	wait := s.timeWithoutQuorum()
	leads := s.ensemble.hasLeader && s.opts.Servers > 1 && s.timeDown(s.engine.Leader()) == 0 &&
		!s.ensemble.stopped[s.engine.Leader()]
	if wait > 0 || !leads {
		s.elect(wait)
	}
}

// elect makes the last of the servers that are up the leader. Until the wait is over no server
// serves. A single server only starts again.
func (s *Server) elect(wait time.Duration) {
	s.ensemble.hasLeader = true
	at := time.Now().Add(wait)
	s.ensemble.servesAt = at
	if s.opts.Servers == 1 {
		s.endAll(s.engine.Restart(at))
		return
	}
	leader := 0
	for server, stopped := range s.ensemble.stopped {
		if !stopped && s.timeCutOff(server) <= wait {
			leader = server
		}
	}
	s.endAll(s.engine.Elect(leader, at))
	s.recorder.note(slog.LevelInfo, "leader elected", slog.Int("server", leader+1))
}

// endAll ends all connections; r is the engine's reaction to their end.
func (s *Server) endAll(r engine.Reaction) {
	if s.inject == nil {
		s.deliver(r)
		return
	}
	for server := range s.opts.Servers {
		s.inject.carryOut(s.inject.net.TakeDown(server, s.inject.now()))
	}
}

// timeDown is the time until the end of the faults that keep a server down.
func (s *Server) timeDown(server int) time.Duration {
	if s.inject == nil {
		return 0
	}
	now := s.inject.now()
	return max(0, s.inject.net.BackAt(server, now)-now)
}

// timeCutOff is the time until the end of the faults that keep a server from the others.
func (s *Server) timeCutOff(server int) time.Duration {
	if s.inject == nil {
		return 0
	}
	now := s.inject.now()
	return max(0, s.inject.net.AwayUntil(server, now)-now)
}

// isAlone reports whether a server that is up does not reach a leader with a majority.
func (s *Server) isAlone(server int) bool {
	return s.inject != nil && s.inject.net.AloneUntil(server, s.inject.now()) > 0
}

// timeWithoutQuorum is the time until a majority is up. The ensemble is not halted.
func (s *Server) timeWithoutQuorum() time.Duration {
	var back []time.Duration
	for server, stopped := range s.ensemble.stopped {
		if !stopped {
			back = append(back, s.timeCutOff(server))
		}
	}
	return carry.QuorumAt(s.opts.Servers, back)
}

// startLag keeps a server from applying changes until a time, or all followers if the server leads.
func (s *Server) startLag(server int, until time.Duration) {
	for _, follower := range s.engine.Lagging(server) {
		s.inject.lagging[follower] = max(s.inject.lagging[follower], until)
	}
}

// follow lets the followers apply what the leader has, but for those that lag by a fault, or do not
// reach the leader.
func (s *Server) follow() {
	for server := range s.opts.Servers {
		if s.inject == nil || s.inject.lagging[server] <= s.inject.now() && !s.isAlone(server) {
			s.followAt(server)
		}
	}
}

// catchUp lets all followers apply the leader's transactions.
func (s *Server) catchUp() {
	for server := range s.opts.Servers {
		s.followAt(server)
	}
}

func (s *Server) followAt(server int) {
	if _, behind := s.engine.Next(server); behind {
		s.deliver(s.engine.Follow(server, s.engine.Store().LastZxid(), time.Now()))
	}
}

// endSession closes the connection of a session that has ended, if its server lags and does not
// know of the end.
func (s *Server) endSession(session int64) {
	if s.opts.Servers == 1 {
		return // it has closed the connection itself
	}
	for _, l := range s.linksOf(nil) {
		if l.session == session && s.links[l.id] != nil {
			s.hangUp(l)
		}
	}
}
