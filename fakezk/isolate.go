package fakezk

import "time"

// isolate sees to a server that is cut off from the others, until it is together with them again or
// gives up.
func (in *injector) isolate(server int, until time.Duration) {
	s := in.server
	s.engine.CutOff(server, true)
	in.wakeAt(until)
	if in.net.IsDown(server, in.now()) && !s.serves(s.engine.Leader()) {
		s.settle() // the server may be the one elected, and is back later now
	}
	if at := in.net.GivesUpAt(server, in.now()); at > 0 {
		in.givesUp[server] = at
		in.wakeAt(at)
	}
}

// updateIsolated takes the servers down that give up now, and lets those rejoin whose time is over.
func (in *injector) updateIsolated() {
	s, now := in.server, in.now()
	for server := range s.opts.Servers {
		if at, ok := in.givesUp[server]; ok && at <= now {
			delete(in.givesUp, server)
			in.carryOut(in.net.TakeDown(server, now))
			s.settle()
		}
		if !in.net.IsCutOff(server, now) {
			in.rejoin(server)
		}
	}
}

func (in *injector) rejoin(server int) {
	in.net.Rejoin(server)
	in.server.engine.CutOff(server, false)
}

// revive ends what faults do to a server.
func (in *injector) revive(server int) {
	in.net.Revive(server)
	in.rejoin(server)
	delete(in.lagging, server)
	delete(in.givesUp, server)
}
