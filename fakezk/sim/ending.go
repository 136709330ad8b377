package sim

import (
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
)

// tearDown ends everything: connections cut, dials refused, clients closed, virtual time drained.
func (s *simulation) tearDown(cancel func()) {
	s.inbox.closing.Store(true)
	s.guard.Stop()
	cancel()
	s.abandonRunaways()
	s.pauses.resumeAll()
	for _, c := range s.faults.Conns() {
		carry.Perform(c.Reset(syscall.ECONNRESET), s.driver)
	}
	if !s.processes.deadEnded() {
		s.endDeadScripts()
	}
	s.dials.endHanging()
	closed := make(chan struct{})
	go func() {
		s.processes.closeClients()
		s.inbox.wakeUp()
		close(closed)
	}()
	s.loop.run(s.agenda.Now()+tearDownLimit, func() bool {
		select {
		case <-closed:
			return s.processes.over()
		default:
			return false
		}
	})
	s.loop.runUntil(s.agenda.Now() + s.drainTime())
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
	if s.processes.over() && s.guard.Runaway() == nil {
		return
	}
	s.loop.runUntil(s.agenda.Now() + time.Second)
	for _, l := range s.network.links {
		if l.process.counted.Rushes(s.agenda.Elapsed()) {
			s.processes.abandon(l.process)
			l.conn.Close()
			s.network.forget(l.conn)
		}
	}
}

// endDeadScripts lets the scripts of dead processes end, which has no effect on the result. It
// gives them a minute.
func (s *simulation) endDeadScripts() {
	s.dials.letIn = true
	s.dials.beginHanging()
	s.loop.run(s.agenda.Now()+time.Minute, s.processes.deadEnded)
	s.dials.letIn = false
}

// drainTime is how long code goes on after its connection was closed. That of a process that has
// died may be in the middle of a long pause.
func (s *simulation) drainTime() time.Duration {
	if s.processes.someDied() {
		return 10 * time.Minute
	}
	return 2 * time.Second
}
