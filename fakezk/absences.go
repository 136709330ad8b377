package fakezk

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
)

// absences are the servers that faults keep from the others. It sees to them when that begins, when
// they or the others notice, and when it ends.
type absences struct {
	engine   *engine.Engine
	faults   *injector
	ensemble *ensemble

	servers *carry.Servers
	givesUp map[int]time.Duration // when a server gives up that is cut off, or is given up
}

// downFor is the time until the end of the faults that keep a server down.
func (a *absences) downFor(server int) time.Duration {
	now := a.faults.now()
	return max(0, a.servers.BackAt(server, now)-now)
}

// isAlone reports whether a server that is up does not reach a leader with a majority.
func (a *absences) isAlone(server int) bool {
	return a.servers.AloneUntil(server, a.faults.now()) > 0
}

// keepsBehind reports whether a server does not apply what the leader has decided.
func (a *absences) keepsBehind(server int) bool {
	return server != a.engine.Leader() &&
		(a.servers.LagsUntil(server) > a.faults.now() || a.isAlone(server))
}

// takeDown ends the connections of a server. One that is apart is with the others then.
func (a *absences) takeDown(server int) {
	a.faults.carryOut(a.faults.net.TakeDown(server, a.faults.now()))
}

// isolate sees to a server that is cut off from the others, until it is together with them again or
// gives up.
func (a *absences) isolate(server int, until time.Duration) {
	now := a.faults.now()
	a.faults.wakeAt(until)
	if a.servers.IsDown(server, now) && !a.ensemble.serves(a.engine.Leader()) {
		a.ensemble.settle() // the server may be the one elected, and is back later now
	}
	a.waitFor(server, a.servers.GivesUpAt(server, now))
}

// pauseServer sees to a server that stands still, until it goes on, and to the others when it has
// done so for too long.
func (a *absences) pauseServer(server int, until time.Duration) {
	a.faults.wakeAt(until)
	a.waitFor(server, a.servers.LeftBehindAt(server, a.faults.now()))
}

// waitFor lets a server give up, or be given up, at a time, unless that is 0.
func (a *absences) waitFor(server int, at time.Duration) {
	if at > 0 {
		a.givesUp[server] = at
		a.faults.wakeAt(at)
	}
}

// wakeInTime sets the alarm for what the network does not know.
func (a *absences) wakeInTime() {
	now := a.faults.now()
	for server := range a.ensemble.stopped {
		for _, at := range []time.Duration{a.servers.LagsUntil(server), a.givesUp[server]} {
			if at > now {
				a.faults.wakeAt(at)
			}
		}
	}
}

// update sees to the servers that do not talk to the others: those that give up now or are given
// up, those whose time is over, and those that notice that they lead no more.
func (a *absences) update() {
	now := a.faults.now()
	for server := range a.ensemble.stopped {
		if at, ok := a.givesUp[server]; ok && at <= now {
			delete(a.givesUp, server)
			a.giveUp(server)
		}
		leftBehind := a.servers.IsLeftBehind(server, now) || a.servers.IsApart(server)
		if a.servers.GoOn(server, now) && leftBehind && a.servers.BelievesUntil(server) == 0 {
			a.takeDown(server)
		}
		if !a.servers.IsCutOff(server, now) {
			a.servers.Rejoin(server)
		}
		if at := a.servers.BelievesUntil(server); at > 0 && at <= now {
			a.takeDown(server)
		}
	}
}

// giveUp ends the time for which a server that is cut off, or the others of one that stands still,
// have waited. A leader does not notice at once.
func (a *absences) giveUp(server int) {
	switch {
	case a.servers.IsApart(server):
		return
	case server == a.engine.Leader():
		a.leaveUnaware()
	case !a.servers.IsLeftBehind(server, a.faults.now()):
		a.takeDown(server)
	}
	a.ensemble.settle()
}

// leaveUnaware lets the servers be apart that do not notice an election which begins now. While
// none serves there are none.
func (a *absences) leaveUnaware() {
	if a.ensemble.halted() || a.ensemble.isElecting() {
		return
	}
	for _, server := range a.servers.LeaveUnaware(a.faults.now()) {
		a.engine.Leave(server)
		if at := a.servers.BelievesUntil(server); at > 0 {
			a.faults.wakeAt(at)
		}
	}
}

// endPause ends the time in which a server stands still, or is apart, by its end.
func (a *absences) endPause(server int) {
	if a.servers.IsApart(server) || a.servers.PausedUntil(server, a.faults.now()) > 0 {
		a.takeDown(server)
	}
}

// revive ends what faults do to a server.
func (a *absences) revive(server int) {
	a.servers.Revive(server)
	a.servers.Rejoin(server)
	delete(a.givesUp, server)
}
