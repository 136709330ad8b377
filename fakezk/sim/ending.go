package sim

import (
	"slices"
	"syscall"
	"time"
)

// over reports whether all scripts have ended.
func (s *simulation) over() bool { return s.running == 0 }

// playOvertime is the loop for scripts that are slow; see World.Overtime.
func (s *simulation) playOvertime() {
	const times, mostInAMinute = 20, 8
	most := int(mostInAMinute * s.world.Overtime / time.Minute)
	since := s.agenda.Now() - s.world.Overtime
	if s.world.Overtime == 0 || s.record.ChangesSince(since) > most || s.isActive() {
		return
	}
	for range times {
		begin := s.agenda.Now()
		s.loop(begin+s.world.Overtime, s.over)
		if n := s.record.ChangesSince(begin); n == 0 || n > most || s.over() || s.guard.OutOfSteps() {
			return
		}
	}
}

// isActive goes on for three times ten seconds, and reports whether the clients did more than to
// wait in each of them: then most of their requests are pings, one or two a second. Clients that
// poll once in minutes may do so at the same time, but not three times.
func (s *simulation) isActive() bool {
	for range 3 {
		before := s.replies
		s.loop(s.agenda.Now()+10*time.Second, s.over)
		if s.over() || s.guard.OutOfSteps() {
			return true
		}
		if s.replies-before <= 30*len(s.clients) {
			return false
		}
	}
	return true
}

// heal lets dials succeed again and deletes the nodes kept by late-reap. Messages held by a delay
// or a stall arrive at their time.
func (s *simulation) heal() {
	s.react(s.engine.ReapEnded(s.agenda.Clock()))
	s.net.Heal()
	clear(s.lagging)
	for server := range s.world.servers() {
		s.engine.CutOff(server, false)
	}
	s.followAll()
}

// noteAtRest notes the server's state before the end.
func (s *simulation) noteAtRest() {
	s.record.End(s.engine)
	s.stepsAtRest = s.guard.Steps()
	s.atRest.Store(s.facts())
}

// tearDown ends everything: connections cut, dials refused, clients closed, virtual time drained.
func (s *simulation) tearDown(cancel func()) {
	s.closing.Store(true)
	s.guard.Stop()
	cancel()
	s.abandonRunaways()
	s.resumeAll()
	for _, c := range s.net.Conns() {
		s.carryOut(c.Reset(syscall.ECONNRESET))
	}
	if !s.deadScriptsEnded() {
		s.endDeadScripts()
	}
	s.endDeadDials()
	closed := make(chan struct{})
	go s.closeClients(closed)
	s.loop(s.agenda.Now()+tearDownLimit, func() bool {
		select {
		case <-closed:
			return s.running == 0
		default:
			return false
		}
	})
	s.loop(s.agenda.Now()+s.drainTime(), func() bool { return false })
}

// tearDownLimit is how much virtual time the clients get to close. The
// go-zookeeper client needs up to three seconds for each connection.
const tearDownLimit = time.Minute

// abandonRunaways gives the scripts that are busy at the end a second to notice that their contexts
// are done. The connections of a client that sends requests without a pause even then are left as
// they are, without a server: if they were closed, each request would fail at once, and the client
// would take a processor for ever. The second is never shorter: a client that has just ended has
// sent its last request a moment ago, too.
func (s *simulation) abandonRunaways() {
	if s.running == 0 && s.guard.Runaway() == nil {
		return
	}
	s.loop(s.agenda.Now()+time.Second, func() bool { return false })
	for id, l := range s.links {
		if l.client.counted.Rushes(s.agenda.Elapsed()) {
			l.client.abandoned = true
			l.conn.Close()
			delete(s.links, id)
		}
	}
}

func (s *simulation) closeClients(closed chan<- struct{}) {
	defer close(closed)
	defer s.wakeUp()
	for _, c := range s.clients {
		if c.abandoned {
			continue
		}
		c.mu.Lock()
		conns := slices.Clone(c.conns)
		c.mu.Unlock()
		for _, conn := range conns {
			conn.Close()
		}
	}
}
