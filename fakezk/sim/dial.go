package sim

import (
	"os"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

// dials decides when and how the dials of clients end.
type dials struct {
	agenda  *agenda.Agenda
	draws   draws.Draws
	record  *record.Recorder
	inbox   *inbox
	network *network
	turns   *turns
	engine  *engine.Engine
	servers int

	hanging []*dialing // the dials of dead processes
	letIn   bool       // those succeed
}

// begin decides when and how a dial ends.
func (s *dials) begin(d *dialing) {
	p := d.process
	p.dials++
	number := p.dials
	if d.connect == 0 && d.server < 0 {
		d.server = s.draws.FirstServer(p.index, -number, s.servers)
	}
	wait := s.draws.Dial(p.index, number)
	finish := func() { s.finish(d, number) }
	if s.hangIfDead(d) {
		return
	}
	answer := carry.Accepted
	if !s.inbox.closing.Load() {
		answer = s.answer(d)
		switch answer {
		case carry.Hangs:
			finish = func() { s.timeOut(d) }
			wait = d.timeout
		case carry.Refused:
			wait *= 10
			if d.connect == 0 { // the client's own code may dial in a loop
				wait += carry.RefusalPause
			}
		}
	}
	if s.turns.on() && (answer == carry.Accepted || answer == carry.Refused && d.connect > 0) {
		s.turns.add(trace.DialEnds, p, 0, finish)
	} else {
		s.agenda.Schedule(s.agenda.Now()+wait, finish)
	}
}

// answer returns the result of a dial.
func (s *dials) answer(d *dialing) carry.Answer {
	if s.letIn && d.process.isDead() {
		return carry.Accepted
	}
	if s.inbox.closing.Load() {
		return carry.Refused
	}
	return s.network.answer(d.process, d.server)
}

func (s *dials) timeOut(d *dialing) { s.fail(d, os.ErrDeadlineExceeded) }

func (s *dials) finish(d *dialing, number int) {
	if s.inbox.isCanceled(d) || s.hangIfDead(d) {
		return
	}
	switch s.answer(d) {
	case carry.Hangs:
		marks.Hit("dial before a black hole")
		s.agenda.Schedule(s.agenda.Now()+d.timeout, func() { s.timeOut(d) })
		return
	case carry.Refused:
		if !s.inbox.closing.Load() {
			s.record.Log(d.process.name, "dial %d refused", number)
		}
		s.fail(d, syscall.ECONNREFUSED)
		return
	}
	delete(d.process.failedDials, d.connect)
	d.process.client.cutOff.Store(false)
	l := s.network.open(d, number)
	s.engine.Open(l.id, d.server, "127.0.0.1", s.agenda.Clock())
	to := ""
	if s.servers > 1 {
		to = " to " + serverName(d.server)
	}
	s.record.Log(d.process.name, "connects%s (connection %d)", to, number)
	d.end(dialResult{conn: l.end})
}

// hangIfDead lets the dial of a dead process hang until the end of the World.
func (s *dials) hangIfDead(d *dialing) bool {
	hangs := d.process.isDead() && !s.inbox.closing.Load()
	if hangs {
		marks.Hit("dial of a dead process")
		s.hanging = append(s.hanging, d)
	}
	return hangs
}

// beginHanging lets the dials of dead processes begin anew.
func (s *dials) beginHanging() {
	dials := s.hanging
	s.hanging = nil
	for _, d := range dials {
		s.begin(d)
	}
}

// endHanging ends the dials of dead processes, so that their connections can be closed.
func (s *dials) endHanging() {
	for _, d := range s.hanging {
		d.end(dialResult{err: syscall.ECONNREFUSED})
	}
	s.hanging = nil
}

// A client that has dialed all its servers in vain fails the requests that wait for a connection
// with ErrNoServer, and pauses for a second. The client itself would do so while the callers ask
// again: the scheduler would decide whether it fails a second request of theirs. So the World does
// it at rest, one request after the other, and the client never learns that it has tried all (see
// worldHosts).

// retryPause is the client's pause.
const retryPause = time.Second

// fail lets a dial fail, after the pause if it is the last of all servers.
func (s *dials) fail(d *dialing, err error) {
	d.process.client.cutOff.Store(true)
	end := func() { d.end(dialResult{err: err}) }
	if d.connect == 0 || s.inbox.closing.Load() || !s.hasTriedAll(d) {
		end()
		return
	}
	s.failUnsent(d)
	s.agenda.Schedule(s.agenda.Now()+retryPause, end)
}

// hasTriedAll counts a dial that fails, and reports whether the client has dialed all servers since
// it was connected, or since it has paused.
func (s *dials) hasTriedAll(d *dialing) bool {
	d.process.failedDials[d.connect]++
	return d.process.failedDials[d.connect]%s.servers == 0
}

// failUnsent fails the requests that wait for the connection.
func (s *dials) failUnsent(d *dialing) {
	p := d.process
	conn := p.client.conn(d.connect)
	if conn == nil || p.isDead() {
		return
	}
	unsent := zkclient.TakeUnsent(conn)
	if len(unsent) == 0 {
		return
	}
	marks.Hit("requests without a server")
	s.record.Log(p.name, "fails what it has not sent: %v", zk.ErrNoServer)
	for _, request := range unsent {
		s.agenda.Schedule(s.agenda.Now(), func() {
			s.turns.goOn()
			p.woken()
			request.Fail(zk.ErrNoServer)
		})
	}
}
