package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
)

// driver carries out the actions of package carry.
//
// A World adds to the rules of package carry: a message takes a latency, so that one event of the
// heap delivers one message (link.go), or the schedule picks it (schedule.go); and a connection
// that its client has closed in a black hole is forgotten at once, as there is no server to show
// it.
type driver struct{ sim *simulation }

func (s *simulation) carryOut(actions []carry.Action) { carry.Perform(actions, driver{s}) }

func (d driver) link(c *carry.Conn) *link { return d.sim.links[engine.ConnID(c.ID)] }

func (d driver) FaultDue(f *carry.Armed) { d.sim.record.Due(f) }

func (d driver) Target(f *carry.Armed) (client int64, ok bool) {
	for _, c := range d.sim.clients {
		if c.name == f.Client {
			client = c.peer.ID
		}
	}
	return client, f.Client == "" || client != 0
}

// Struck does nothing: FaultDue has written the line.
func (driver) Struck(*carry.Armed) {}

func (d driver) Hit(c *carry.Conn, m *carry.Message, f *carry.Armed, taken bool) {
	at := d.sim.record.Hit(c, m, f, taken)
	if taken {
		d.sim.record.Arrived(labelOf(m).note, at, true)
	}
}

func (d driver) Apply(c *carry.Conn, m *carry.Message, f *carry.Armed) {
	d.sim.process(d.link(c), m, f)
}

func (d driver) Pause(c *carry.Conn, m *carry.Message, f *carry.Armed, until time.Duration) {
	d.sim.pause(d.link(c), m, f, until)
}

func (d driver) Send(c *carry.Conn, m *carry.Message) { d.link(c).send(false, m) }

func (d driver) Deliver(c *carry.Conn, m *carry.Message) {
	l := d.link(c)
	if about := labelOf(m).about; about != nil {
		d.sim.record.Arrived(labelOf(m).note, d.sim.record.Log(l.client.name, "<- %s", about), false)
	}
	l.deliver(m.Bytes)
}

func (d driver) Later(c *carry.Conn, up bool, at time.Duration) {
	switch l := d.link(c); {
	case d.sim.order != nil: // it looks for itself
	case up:
		d.sim.agenda.Schedule(at, l.arriveUp)
	default:
		d.sim.agenda.Schedule(at, l.arriveDown)
	}
}

// Hang and Admit do nothing: the World knows who dials, so no handshake hangs.
func (driver) Hang(*carry.Conn)  {}
func (driver) Admit(*carry.Conn) {}

func (d driver) Sever(c *carry.Conn) { d.sim.engine.Drop(engine.ConnID(c.ID)) }

func (d driver) End(c *carry.Conn, err error) {
	l := d.link(c)
	d.sim.record.Log(l.client.name, "connection %d: %s", c.Number, tracetext.End(err))
	l.fail(err)
	delete(d.sim.links, l.id)
}

func (d driver) Reset(c *carry.Conn, err error) {
	l := d.link(c)
	d.sim.engine.Drop(l.id)
	l.fail(err)
	delete(d.sim.links, l.id)
}

func (d driver) Forget(c *carry.Conn) {
	c.Close()
	delete(d.sim.links, engine.ConnID(c.ID))
}

// Unheard has no effect on the server.
func (d driver) Unheard(c *carry.Conn) { d.Forget(c) }

// Vanish does nothing: what is under way vanishes when it would be delivered.
func (driver) Vanish(*carry.Conn) {}

func (d driver) ExpireOn(c *carry.Conn, late time.Duration) {
	d.Expire(d.sim.engine.SessionOf(engine.ConnID(c.ID)), late)
	if d.sim.world.servers() > 1 && c.State() == carry.Open {
		d.sim.carryOut(c.ServerClosed(nil)) // a follower hears of the end later
	}
}

func (d driver) Sessions(client int64) (list []int64) {
	for _, c := range d.sim.clients {
		if client == 0 || client == c.peer.ID {
			list = append(list, slices.Sorted(maps.Keys(c.sessions))...)
		}
	}
	return list
}

// Expire ends no session while the leader is down, or without a majority.
func (d driver) Expire(session int64, late time.Duration) bool {
	return d.sim.expire(session, late)
}

func (d driver) Crash(client int64, f *carry.Armed, until time.Duration) {
	d.sim.crash(client, f, until)
}

// Restart lets the engine forget connections and watches, nothing else; while the server is down no
// session ends.
func (d driver) Restart(server int, f *carry.Armed, until time.Duration) {
	if d.sim.world.servers() > 1 {
		d.sim.loseServer(server, f.For)
		return
	}
	d.sim.record.Log("server", "goes down for %s", f.For)
	d.sim.engine.Restart(d.sim.agenda.At(until)) // later actions sever its connections
}

func (d driver) Failover(f *carry.Armed, _ time.Duration) {
	d.sim.loseServer(d.sim.engine.Leader(), f.For)
}

func (d driver) Lag(server int, f *carry.Armed, until time.Duration) {
	d.sim.startLag(server, f, until)
}

func (d driver) Isolate(server int, f *carry.Armed, until time.Duration) {
	d.sim.startIsolation(server, f, until)
}

// deliver and fail are the only ways in which a connection wakes its client.
func (l *link) deliver(bytes []byte) {
	l.client.markWoken()
	l.noteReply(bytes)
	l.end.HandOver(bytes, l.sim.agenda.ClockLag())
}

func (l *link) fail(err error) {
	l.client.markWoken()
	l.noteLost()
	l.end.Fail(err)
}

// expire ends a session, with its ephemerals left for a while, if late is not 0, and
// reports whether it was alive. A leader that is down, or without a majority, ends none.
func (s *simulation) expire(session int64, late time.Duration) bool {
	now := s.agenda.Clock()
	var r engine.Reaction
	var ok bool
	leader := s.engine.Leader()
	if s.net.IsDown(leader, s.agenda.Now()) || s.net.AloneUntil(leader, s.agenda.Now()) > 0 {
		return false
	}
	if late > 0 {
		r, ok = s.engine.ExpireLate(session, now.Add(late))
	} else {
		r, ok = s.engine.Expire(session, now)
	}
	if ok {
		s.record.Log("server", "expires session %s", tracetext.Session(session))
		s.react(withoutOwnDeletions(r))
	}
	return ok
}
