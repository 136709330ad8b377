package sim

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
)

// driver carries out the actions of package carry.
//
// A World adds to the rules of package carry: a message takes a latency, so that one event of the
// heap delivers one message (link.go), or the schedule picks it (schedule.go); and a connection
// that its client has closed in a black hole is forgotten at once, as there is no server to show
// it.
type driver struct {
	agenda    *agenda.Agenda
	record    *record.Recorder
	engine    *engine.Engine
	network   *network
	server    *server
	replicas  *replicas
	processes *processes
	pauses    *pauses
}

func (d *driver) link(c *carry.Conn) *link { return d.network.link(c) }

func (d *driver) FaultDue(f *carry.Armed) { d.record.Due(f) }

func (d *driver) Target(f *carry.Armed) (client int64, ok bool) {
	client = d.processes.named(f.Client)
	return client, f.Client == "" || client != 0
}

// Struck does nothing: FaultDue has written the line.
func (*driver) Struck(*carry.Armed) {}

func (d *driver) Hit(c *carry.Conn, m *carry.Message, f *carry.Armed, taken bool) {
	at := d.record.Hit(c, m, f, taken)
	if taken {
		d.record.Arrived(labelOf(m).note, at, true)
	}
}

func (d *driver) Apply(c *carry.Conn, m *carry.Message, f *carry.Armed) {
	d.server.handle(d.link(c), m, f)
}

func (d *driver) Pause(c *carry.Conn, m *carry.Message, f *carry.Armed, until time.Duration) {
	d.pauses.pause(d.link(c), m, f, until)
}

func (d *driver) Send(c *carry.Conn, m *carry.Message) { d.link(c).send(false, m) }

func (d *driver) Deliver(c *carry.Conn, m *carry.Message) {
	l := d.link(c)
	if about := labelOf(m).about; about != nil {
		d.record.Arrived(labelOf(m).note, d.record.Log(l.process.name, "<- %s", about), false)
	}
	l.handOver(m.Bytes)
}

func (d *driver) Later(c *carry.Conn, up bool, at time.Duration) {
	switch l := d.link(c); {
	case d.network.ordered(): // the order looks for itself
	case up:
		d.agenda.Schedule(at, l.arriveUp)
	default:
		d.agenda.Schedule(at, l.arriveDown)
	}
}

// Hang and Admit do nothing: the World knows who dials, so no handshake hangs.
func (*driver) Hang(*carry.Conn)  {}
func (*driver) Admit(*carry.Conn) {}

func (d *driver) Sever(c *carry.Conn) { d.engine.Drop(engine.ConnID(c.ID)) }

func (d *driver) End(c *carry.Conn, err error) {
	l := d.link(c)
	d.record.Log(l.process.name, "connection %d: %s", c.Number, tracetext.End(err))
	l.fail(err)
	d.network.forget(c)
}

func (d *driver) Reset(c *carry.Conn, err error) {
	l := d.link(c)
	d.engine.Drop(l.id)
	l.fail(err)
	d.network.forget(c)
}

func (d *driver) Forget(c *carry.Conn) {
	c.Close()
	d.network.forget(c)
}

// Unheard has no effect on the server.
func (d *driver) Unheard(c *carry.Conn) { d.Forget(c) }

// Vanish does nothing: what is under way vanishes when it would be delivered.
func (*driver) Vanish(*carry.Conn) {}

func (d *driver) ExpireOn(c *carry.Conn, late time.Duration) {
	d.Expire(d.engine.SessionOf(engine.ConnID(c.ID)), late)
	if d.replicas.number > 1 && c.State() == carry.Open {
		carry.Perform(c.ServerClosed(nil), d) // a follower hears of the end later
	}
}

func (d *driver) Sessions(client int64) []int64 { return d.processes.sessions(client) }

// Expire ends no session while the leader is down, or without a majority.
func (d *driver) Expire(session int64, late time.Duration) bool {
	return d.server.expire(session, late)
}

func (d *driver) Crash(client int64, f *carry.Armed, until time.Duration) {
	d.processes.crash(client, f, until)
}

// Restart lets the engine forget connections and watches, nothing else; while the server is down no
// session ends.
func (d *driver) Restart(server int, f *carry.Armed, until time.Duration) {
	if d.replicas.number > 1 {
		d.replicas.lose(server, f.For)
		return
	}
	d.record.Log("server", "goes down for %s", f.For)
	d.engine.Restart(d.agenda.At(until)) // later actions sever its connections
}

func (d *driver) Elect(f *carry.Armed, _ time.Duration) { d.replicas.electFor(f.For) }

func (d *driver) Failover(f *carry.Armed, _ time.Duration) {
	d.replicas.lose(d.engine.Leader(), f.For)
}

func (d *driver) Lag(server int, f *carry.Armed, _ time.Duration) {
	d.record.Log("server", "%s lags for %s", serverName(server), f.For)
}

// Down drops what the engine sends: the connections of the server end anyway.
func (d *driver) Down(server int) { d.engine.Down(server, d.agenda.Clock()) }

func (d *driver) Isolate(server int, f *carry.Armed, until time.Duration) {
	d.replicas.isolate(server, f, until)
}

func (d *driver) PauseServer(server int, f *carry.Armed, until time.Duration) {
	d.replicas.pauseServer(server, f, until)
}
