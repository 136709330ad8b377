package fakezk

import "time"

// lag keeps a server from applying changes until a time, or all followers if the server leads.
func (in *injector) lag(server int, until time.Duration) {
	for _, follower := range in.engine.Lagging(server) {
		in.lagging[follower] = max(in.lagging[follower], until)
	}
	in.wakeAt(until)
}

// isolate sees to a server that is cut off from the others, until it is together with them again or
// gives up.
func (in *injector) isolate(server int, until time.Duration) {
	in.engine.CutOff(server, true)
	in.wakeAt(until)
	if in.net.IsDown(server, in.now()) && !in.ensemble.serves(in.engine.Leader()) {
		in.ensemble.settle() // the server may be the one elected, and is back later now
	}
	if at := in.net.GivesUpAt(server, in.now()); at > 0 {
		in.givesUp[server] = at
		in.wakeAt(at)
	}
}

// pauseServer sees to a server that stands still, until it goes on, and to the others when it has
// done so for too long.
func (in *injector) pauseServer(server int, until time.Duration) {
	in.noteApart(server)
	in.wakeAt(until)
	if at := in.net.LeftBehindAt(server, in.now()); at > 0 {
		in.givesUp[server] = at
		in.wakeAt(at)
	}
}

// updateApart sees to the servers that do not talk to the others: those that give up now or are
// given up, those whose time is over, and those that notice that they lead no more.
func (in *injector) updateApart() {
	now := in.now()
	for server := range in.opts.Servers {
		if at, ok := in.givesUp[server]; ok && at <= now {
			delete(in.givesUp, server)
			in.giveUp(server)
		}
		leftBehind := in.net.IsLeftBehind(server, now) || in.engine.IsApart(server)
		if in.net.GoOn(server, now) && leftBehind && in.net.BelievesUntil(server) == 0 {
			in.join(server)
		}
		if !in.net.IsCutOff(server, now) {
			in.net.Rejoin(server)
		}
		in.noteApart(server)
		if at := in.net.BelievesUntil(server); at > 0 && at <= now {
			in.join(server)
		}
	}
}

// giveUp ends the time for which a server that is cut off, or the others of one that stands still,
// have waited. A leader does not notice at once.
func (in *injector) giveUp(server int) {
	now := in.now()
	switch {
	case in.engine.IsApart(server):
		return
	case server == in.engine.Leader() && in.net.IsUnaware(server, now):
		in.leaveUnaware()
	case !in.net.IsLeftBehind(server, now):
		in.carryOut(in.net.TakeDown(server, now))
	}
	in.ensemble.settle()
}

// leaveUnaware lets the servers be apart that do not notice an election which begins now.
func (in *injector) leaveUnaware() {
	if !in.active() {
		return
	}
	now := in.now()
	for server := range in.opts.Servers {
		if !in.ensemble.serves(server) || in.engine.IsApart(server) ||
			!in.net.IsUnaware(server, now) {
			continue
		}
		in.engine.Leave(server)
		if server == in.engine.Leader() {
			in.wakeAt(in.net.Depose(server, now))
		}
	}
}

// join lets a server that was apart be with the others again.
func (in *injector) join(server int) {
	in.carryOut(in.net.TakeDown(server, in.now()))
	in.endApart(server)
}

// endApart tells the engine that a server which is down is with the others when it is back.
func (in *injector) endApart(server int) {
	in.noteApart(server)
	if in.engine.IsApart(server) {
		in.pipeline.deliver(in.engine.Join(server, time.Now()))
	}
}

// endPause ends the time in which a server stands still, or is apart, by its end.
func (in *injector) endPause(server int) {
	if in.active() && (in.engine.IsApart(server) || in.net.PausedUntil(server, in.now()) > 0) {
		in.join(server)
	}
}

// noteApart tells the engine whether a server hears of the others now, and they of it.
func (in *injector) noteApart(server int) {
	in.engine.CutOff(server, in.net.IsSilent(server, in.now()))
}

// revive ends what faults do to a server.
func (in *injector) revive(server int) {
	if !in.active() {
		return
	}
	in.net.Revive(server)
	in.net.Rejoin(server)
	in.engine.CutOff(server, false)
	delete(in.lagging, server)
	delete(in.givesUp, server)
}
