package realworld

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
)

// driver carries out the actions of package carry. The run's mutex is held.
type driver struct{ proxy *proxy }

func (p *proxy) carryOut(actions []carry.Action) { carry.Perform(actions, driver{p}) }

func (d driver) link(c *carry.Conn) *link { return d.proxy.links[c.ID] }

func (d driver) FaultDue(f *carry.Armed) { d.proxy.journal.due(f) }

func (d driver) Target(f *carry.Armed) (client int64, ok bool) {
	if f.Client == "" {
		return 0, true
	}
	for _, c := range d.proxy.clients {
		if c.name == f.Client {
			return c.peer.ID, true
		}
	}
	return 0, false
}

// Struck does nothing: FaultDue has written the line.
func (driver) Struck(*carry.Armed) {}

func (d driver) Hit(c *carry.Conn, m *carry.Message, f *carry.Armed, taken bool) {
	d.proxy.journal.hit(c.Client, m, f, taken)
}

func (d driver) Apply(c *carry.Conn, m *carry.Message, f *carry.Armed) {
	l := d.link(c)
	l.forward(l.requestOf(m, f), m.Bytes)
}

func (d driver) Send(c *carry.Conn, m *carry.Message) {
	c.QueueDown(m)
	d.link(c).moveDown()
}

func (d driver) Deliver(c *carry.Conn, m *carry.Message) {
	l := d.link(c)
	if about := m.Tag; about != nil {
		d.proxy.journal.log(l.client.name, "<- %s", about)
	}
	l.end.Deliver(m.Bytes)
}

// Later does nothing: a timer moves what a connection holds.
func (driver) Later(*carry.Conn, bool, time.Duration) {}

// Hang and Admit do nothing: the proxy knows who dials, so no handshake hangs.
func (driver) Hang(*carry.Conn)  {}
func (driver) Admit(*carry.Conn) {}

func (d driver) Sever(c *carry.Conn)          { d.link(c).hangUp() }
func (d driver) End(c *carry.Conn, err error) { d.link(c).over(err) }

func (d driver) Reset(c *carry.Conn, err error) {
	l := d.link(c)
	l.hangUp()
	l.over(err)
}

func (d driver) Forget(c *carry.Conn) { delete(d.proxy.links, c.ID) }

// Unheard does nothing: the proxy's own connection to the server stays.
func (driver) Unheard(*carry.Conn) {}

// Vanish does nothing: what is under way vanishes when it would be delivered.
func (driver) Vanish(*carry.Conn) {}

func (d driver) ExpireOn(c *carry.Conn, _ time.Duration) {
	l := d.link(c)
	d.proxy.expire(l.client, l.session)
}

func (d driver) Sessions(client int64) (list []int64) {
	for _, c := range d.proxy.clients {
		if client == 0 || client == c.peer.ID {
			list = append(list, d.proxy.sessions.of(c)...)
		}
	}
	return list
}

func (d driver) Expire(session int64, _ time.Duration) bool {
	d.proxy.expire(d.proxy.sessions[session].client, session)
	return true
}

func (d driver) Restart(server int, f *carry.Armed, _ time.Duration) {
	d.proxy.outages.restart(server, f.For)
}

// Elect kills all servers: nobody can make them take long to elect a leader.
func (d driver) Elect(f *carry.Armed, until time.Duration) {
	for server := range d.proxy.servers.list {
		d.proxy.carryOut(d.proxy.net.TakeDown(server, until))
		d.proxy.outages.restart(server, f.For)
	}
}

func (d driver) Failover(f *carry.Armed, _ time.Duration) { d.proxy.outages.failover(f.For) }

// Down does nothing: a server that goes down is killed.
func (driver) Down(int) {}

func (d driver) Isolate(server int, f *carry.Armed, _ time.Duration) {
	d.proxy.outages.spell(server, f, "is cut off from the others", Server.CutOff)
}

func (d driver) PauseServer(server int, f *carry.Armed, _ time.Duration) {
	d.proxy.outages.spell(server, f, "stands still", Server.StandStill)
}

// Pause, Crash and Lag do nothing: a World refuses these kinds of faults.
func (driver) Pause(*carry.Conn, *carry.Message, *carry.Armed, time.Duration) {}
func (driver) Crash(int64, *carry.Armed, time.Duration)                       {}
func (driver) Lag(int, *carry.Armed, time.Duration)                           {}
