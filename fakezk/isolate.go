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

// updateIsolated takes the servers down that give up now, and lets those rejoin whose time is over.
func (in *injector) updateIsolated() {
	now := in.now()
	for server := range in.opts.Servers {
		if at, ok := in.givesUp[server]; ok && at <= now {
			delete(in.givesUp, server)
			in.carryOut(in.net.TakeDown(server, now))
			in.ensemble.settle()
		}
		if !in.net.IsCutOff(server, now) {
			in.rejoin(server)
		}
	}
}

func (in *injector) rejoin(server int) {
	in.net.Rejoin(server)
	in.engine.CutOff(server, false)
}

// revive ends what faults do to a server.
func (in *injector) revive(server int) {
	if !in.active() {
		return
	}
	in.net.Revive(server)
	in.rejoin(server)
	delete(in.lagging, server)
	delete(in.givesUp, server)
}
