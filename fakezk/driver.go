package fakezk

import (
	"io"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
)

// driver carries out the actions of package carry. The server's mutex is held.
type driver struct{ in *injector }

func (in *injector) carryOut(actions []carry.Action) { carry.Perform(actions, driver{in}) }

func (d driver) link(c *carry.Conn) *link { return d.in.links.get(engine.ConnID(c.ID)) }

// FaultDue does nothing: a fault is logged when it acts.
func (driver) FaultDue(*carry.Armed) {}

// Target is the session of a client. A restart needs none.
func (d driver) Target(f *carry.Armed) (session int64, ok bool) {
	if f.Client != "" {
		session = d.in.names.find(f.Client)
	}
	return session, f.Client == "" || session != 0 || f.Kind == fault.Restart
}

func (d driver) Struck(f *carry.Armed) { d.in.recorder.fault(f) }

func (d driver) Hit(_ *carry.Conn, _ *carry.Message, f *carry.Armed, _ bool) {
	d.in.recorder.fault(f)
}

func (d driver) Apply(c *carry.Conn, m *carry.Message, f *carry.Armed) {
	d.in.apply(d.link(c), m, f)
}

func (d driver) Send(c *carry.Conn, m *carry.Message)    { d.in.sendDown(d.link(c), m) }
func (d driver) Deliver(c *carry.Conn, m *carry.Message) { d.link(c).sink.Deliver(m.Bytes) }

func (d driver) Later(_ *carry.Conn, _ bool, at time.Duration) { d.in.wakeAt(at) }

// Hang takes the connection from the engine, so that it does not wait for the handshake.
func (d driver) Hang(c *carry.Conn) { d.in.engine.Drop(engine.ConnID(c.ID)) }

func (d driver) Admit(c *carry.Conn) {
	l := d.link(c)
	d.in.engine.Open(l.id, l.server, l.peer.ip, time.Now())
}

func (d driver) Sever(c *carry.Conn)            { d.in.pipeline.drop(d.link(c)) }
func (d driver) End(c *carry.Conn, err error)   { d.in.forget(d.link(c), err) }
func (d driver) Reset(c *carry.Conn, err error) { d.in.forget(d.link(c), err) }
func (d driver) Forget(c *carry.Conn)           { d.in.forget(d.link(c), io.EOF) }

// Unheard does nothing: the server shows the connection until it times out.
func (driver) Unheard(*carry.Conn) {}

func (d driver) Vanish(c *carry.Conn) { c.Empty() }

func (d driver) ExpireOn(c *carry.Conn, late time.Duration) { d.Expire(d.link(c).session, late) }

func (d driver) Sessions(client int64) (list []int64) {
	for _, v := range d.in.engine.Sessions() {
		if client == 0 || client == v.ID {
			list = append(list, v.ID)
		}
	}
	return list
}

func (d driver) Expire(session int64, late time.Duration) bool {
	return d.in.expire(session, late)
}

func (d driver) Restart(int, *carry.Armed, time.Duration) {
	d.in.ensemble.settle() // later actions sever its connections
}

// Elect does nothing without a majority.
func (d driver) Elect(f *carry.Armed, _ time.Duration) {
	if !d.in.ensemble.halted() {
		d.in.ensemble.electFor(f.For)
	}
}

func (d driver) Failover(*carry.Armed, time.Duration) { d.in.ensemble.settle() }

func (d driver) Lag(_ int, _ *carry.Armed, until time.Duration) { d.in.wakeAt(until) }

// Down drops what the engine sends: the connections of the server end anyway.
func (d driver) Down(server int) { d.in.engine.Down(server, time.Now()) }

func (d driver) Isolate(server int, _ *carry.Armed, until time.Duration) {
	d.in.absences.isolate(server, until)
}

func (d driver) PauseServer(server int, _ *carry.Armed, until time.Duration) {
	d.in.absences.pauseServer(server, until)
}

// Pause and Crash do nothing: Inject refuses these kinds of faults.
func (driver) Pause(*carry.Conn, *carry.Message, *carry.Armed, time.Duration) {}
func (driver) Crash(int64, *carry.Armed, time.Duration)                       {}
