package fakezk

import (
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
)

// Addresses are the addresses of the servers, by number, for zk.Connect together with Dialer.
func (s *Server) Addresses() []string {
	return carry.Addresses(s.opts.Servers)
}

// Stop makes servers, given by their numbers from 1, unreachable: their connections are closed, and
// dials are refused. Without a number it means all. Data and sessions stay. If the leader stops,
// another server leads at once, and all connections are closed. Without a majority no server
// serves, and no session expires. Stop panics if there is no server of a number.
func (s *Server) Stop(servers ...int) {
	list := s.ensemble.byNumber(servers)
	s.turns.lockAndInterrupt()
	defer s.mu.Unlock()
	s.recorder.call("stop", "", "%s", numbersText(servers))
	s.ensemble.stop(list)
	s.expiry.schedule()
}

// Restart makes servers that are stopped reachable again, with their data; those that run are
// stopped first. The arguments are those of Stop. When a single server restarts, or a majority is
// back, every session gets its full timeout from now.
func (s *Server) Restart(servers ...int) {
	list := s.ensemble.byNumber(servers)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.front.closed {
		return
	}
	s.recorder.call("restart", "", "%s", numbersText(servers))
	s.ensemble.restart(list)
	s.expiry.schedule()
}

// Leader is the number of the leader, or 0 if there is none, for instance without a majority. A
// single server leads itself.
func (s *Server) Leader() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if leader := s.engine.Leader(); s.ensemble.serves(leader) {
		return leader + 1
	}
	return 0
}

// Serves reports whether a server, by its number from 1, accepts connections: it is neither stopped
// nor taken down by a fault, and there is a leader.
func (s *Server) Serves(server int) bool {
	list := s.ensemble.byNumber([]int{server})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ensemble.serves(list[0])
}

// numbersText is the end of a line of the trace.
func numbersText(servers []int) string {
	return strings.Trim(fmt.Sprint(servers), "[]")
}

// ensemble is which servers run, lead and lag, by number from 0.
type ensemble struct {
	engine   *engine.Engine
	recorder *recorder
	links    *links
	pipeline *pipeline
	faults   *injector
	absences *absences

	stopped   []bool    // by Stop
	hasLeader bool      // there is a leader
	servesAt  time.Time // no server serves before
	elected   time.Time // when the longest election is over that a fault has begun
}

// byNumber turns numbers from 1 into numbers from 0. None means all.
func (e *ensemble) byNumber(servers []int) []int {
	if len(servers) == 0 {
		return e.all()
	}
	var list []int
	for _, number := range servers {
		if number < 1 || number > len(e.stopped) {
			panic(fmt.Sprintf("fakezk: there is no server %d; expected 1 to %d", number,
				len(e.stopped)))
		}
		list = append(list, number-1)
	}
	return list
}

// all lists the numbers of all servers, from 0.
func (e *ensemble) all() (servers []int) {
	for i := range e.stopped {
		servers = append(servers, i)
	}
	return servers
}

func (e *ensemble) isStopped(server int) bool { return e.stopped[server] }

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

// lacksQuorum reports whether there is no leader with a majority.
func (e *ensemble) lacksQuorum() bool {
	return e.halted() || e.absences.isAlone(e.engine.Leader())
}

// refuses is the error of a dial to a server that does not serve, unless a fault causes it.
func (e *ensemble) refuses(server int) error {
	switch {
	case e.halted(), e.stopped[server]:
		return ErrStopped
	case e.isElecting() && !e.absences.servers.IsApart(server):
		return syscall.ECONNREFUSED
	}
	return nil
}

// isElecting reports whether no server serves until there is a leader, but for those apart.
func (e *ensemble) isElecting() bool { return time.Now().Before(e.servesAt) }

func (e *ensemble) serves(server int) bool {
	return e.refuses(server) == nil && e.absences.downFor(server) == 0
}

func (e *ensemble) stop(servers []int) {
	for _, server := range servers {
		e.stopped[server] = true
		e.absences.endPause(server)
	}
	for _, l := range e.links.of() {
		if e.stopped[l.server] {
			e.pipeline.hangUp(l)
		}
	}
	e.settle()
}

func (e *ensemble) restart(servers []int) {
	e.stop(servers)
	for _, server := range servers {
		e.stopped[server] = false
		e.absences.revive(server)
	}
	e.settle()
	e.follow()
}

// serveNow ends the time without a leader.
func (e *ensemble) serveNow() { e.servesAt, e.elected = time.Time{}, time.Time{} }

// settle elects a leader, if one is needed, after servers have gone down or come back.
func (e *ensemble) settle() {
	if e.halted() {
		e.hasLeader = false
		e.endAll(e.engine.Restart(time.Now()))
		return
	}
	leader, now := e.engine.Leader(), e.faults.now()
	leads := e.hasLeader && len(e.stopped) > 1 && e.absences.downFor(leader) == 0 &&
		!e.stopped[leader] && !e.absences.servers.IsApart(leader)
	if !leads || e.absences.servers.LacksQuorum(now) {
		e.electFor(0)
	}
}

// electFor makes the last of the servers that are up the leader, a while after a majority is. No
// server serves before. A single server only starts again.
func (e *ensemble) electFor(takes time.Duration) {
	e.absences.leaveUnaware()
	now := e.faults.now()
	quorum := e.absences.servers.QuorumAt(now)
	e.hasLeader = true
	at := time.Now().Add(quorum - now + takes)
	if at.Before(e.elected) {
		at = e.elected
	}
	if takes > 0 {
		e.elected = at
	}
	e.servesAt = at
	if len(e.stopped) == 1 {
		e.endAll(e.engine.Restart(at))
		return
	}
	up, joining := e.absences.servers.Electable(quorum, now)
	for _, server := range joining {
		e.absences.takeDown(server)
	}
	leader := up[len(up)-1]
	e.endAll(e.engine.Elect(leader, at))
	e.recorder.note(slog.LevelInfo, "leader elected", slog.Int("server", leader+1))
}

// endAll ends all connections; r is the engine's reaction to their end.
func (e *ensemble) endAll(r engine.Reaction) {
	if !e.faults.active() {
		e.pipeline.deliver(r)
		return
	}
	e.faults.carryOut(e.faults.net.TakeDownOthers(e.faults.now()))
}

// follow lets the followers apply what the leader has, but for those that a fault keeps behind.
func (e *ensemble) follow() {
	for server := range e.stopped {
		if !e.absences.keepsBehind(server) {
			e.followAt(server)
		}
	}
}

// catchUp lets all followers apply the leader's transactions. Those that are apart join it.
func (e *ensemble) catchUp() {
	for server := range e.stopped {
		if e.absences.servers.IsApart(server) {
			e.absences.takeDown(server)
		}
		e.followAt(server)
	}
}

func (e *ensemble) followAt(server int) {
	if _, behind := e.engine.Next(server); behind {
		e.pipeline.deliver(e.engine.Follow(server, e.engine.Store().LastZxid(), time.Now()))
	}
}

// endSession closes the connection of a session that has ended, if its server lags and does not
// know of the end.
func (e *ensemble) endSession(session int64) {
	if len(e.stopped) == 1 {
		return // it has closed the connection itself
	}
	for _, l := range e.links.of() {
		if l.session == session && l.served {
			e.pipeline.hangUp(l)
		}
	}
}
