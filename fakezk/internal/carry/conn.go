package carry

import (
	"io"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
)

// errReset is the client's error on a connection that a fault reset.
const errReset = syscall.ECONNRESET

// State is the state of a connection.
type State int

// The states of a Conn.
const (
	// Open: messages pass, or are on hold in a lane.
	Open State = iota
	// Hanging: the dial hangs; the server has not heard of the connection.
	Hanging
	// Severed: the server has forgotten the connection. The client hears of it at
	// the end of the lane.
	Severed
	// Blackholed: messages vanish both ways.
	Blackholed
	// BlackholedGone: likewise, and the client has closed the connection, of which
	// the server does not hear.
	BlackholedGone
	// Lost: messages vanish, and the server has forgotten the connection.
	Lost
	// Frozen: nothing moves until the driver resets the connection.
	Frozen
	// Over: neither end knows the connection any more.
	Over
)

// A Conn is one connection between a client and a server. ID names it within its
// Network; it is never used again.
type Conn struct {
	ID int64
	// Client has dialled; it is nil as long as it is not known. Number counts the
	// client's connections from 1.
	Client *Client
	Number int
	// Server is the number of the server at the far end.
	Server int
	// Greeted says that the client's first message, the handshake, was queued.
	Greeted bool

	Up, Down Lane // to the server, to the client

	net   *Network
	state State
}

// A Client makes connections. Its requests and events are counted over all of them.
type Client struct {
	ID   int64  // not 0
	Name string // by which faults select the client

	requests, events int
}

// State returns the state of the connection.
func (c *Conn) State() State { return c.state }

// Idle reports whether a message that comes now passes at once, unless a fault selects it.
func (c *Conn) Idle(now time.Duration) bool {
	return c.state == Open && !c.Up.Busy(now) && !c.Down.Busy(now)
}

// known reports whether the server knows the connection, and faults can act on it.
func (c *Conn) known() bool {
	return c.state == Open || c.state == Blackholed || c.state == BlackholedGone
}

// vanishes reports whether messages go nowhere.
func (c *Conn) vanishes() bool {
	return c.state == Blackholed || c.state == BlackholedGone || c.state == Lost
}

// Ignores reports whether a message that the client sends now has no effect: it vanishes, or comes
// behind the end of the connection, or behind a message with Last set.
func (c *Conn) Ignores() bool {
	last := c.Up.Last()
	return c.vanishes() || last != nil && (last.End != nil || last.Last)
}

// Next is when the first message of a lane may be delivered.
func (c *Conn) Next() (at time.Duration, ok bool) {
	if c.state == Frozen {
		return 0, false
	}
	for _, lane := range []*Lane{&c.Up, &c.Down} {
		if _, ready, found := lane.First(); found && (!ok || ready < at) {
			at, ok = ready, true
		}
	}
	return at, ok
}

// Ready reports whether the first message of a lane may be delivered.
func (c *Conn) Ready(lane *Lane, now time.Duration) bool {
	_, at, ok := lane.First()
	return ok && at <= now && c.state != Frozen
}

// QueueUp puts a message of the client on its way.
func (c *Conn) QueueUp(m *Message) {
	if c.state == Over {
		return
	}
	if m.End == nil && !c.Greeted {
		c.Greeted, m.hello = true, true
	}
	c.Up.queue(m)
}

// QueueDown puts a message to the client on its way.
func (c *Conn) QueueDown(m *Message) {
	if c.state != Over {
		c.Down.queue(m)
	}
}

// DeliverUp takes the first message to the server, if it may be delivered, and
// lets faults act on it.
func (c *Conn) DeliverUp(now time.Duration) []Action {
	m := c.Up.take(now)
	switch {
	case m == nil:
		return nil
	case isClientsEnd(m):
		return c.clientEnds(m.Half)
	case c.vanishes() || c.state == Severed:
		return nil
	case m.End != nil:
		if until := c.net.waitsFor(c, &c.Up, m, now); until > 0 {
			return c.putOff(m, until)
		}
		marks.Hit("garbage")
		return c.endSoon(io.EOF)
	case m.Dials:
		return c.dials(m, now)
	}
	if !m.judged && !m.hello {
		c.judge(m)
	}
	return c.net.deliver(c, &c.Up, m, now)
}

// DeliverDown takes the first message to the client, if it may be delivered, and
// lets faults act on it.
func (c *Conn) DeliverDown(now time.Duration) []Action {
	m := c.Down.take(now)
	switch {
	case m == nil || c.vanishes():
		return nil
	case m.End != nil:
		c.Close()
		return []Action{act(func(d Driver) { d.End(c, m.End) })}
	}
	return c.net.deliver(c, &c.Down, m, now)
}

// Acting are the faults that act on the first message of a lane when it is delivered.
func (c *Conn) Acting(lane *Lane) (faults []*Armed) {
	m, _, ok := lane.First()
	switch {
	case !ok || c.net.healed || m.End != nil || m.hello || m.Dials:
		return nil
	case lane == &c.Down || m.judged:
		return m.faults
	}
	point, ok := c.requestCoordinate(m.Bytes)
	for _, f := range c.net.waiting {
		if ok && f.Selects(point) && f.Seen+1 == f.Request {
			faults = append(faults, f)
		}
	}
	return faults
}

// judge counts a request and finds the faults that act on it.
func (c *Conn) judge(m *Message) {
	m.judged = true
	if c.Client == nil {
		return
	}
	point, ok := c.requestCoordinate(m.Bytes)
	if !ok {
		marks.Hit("message without a coordinate")
		return
	}
	c.Client.requests++
	m.Number, m.Point, m.faults = c.Client.requests, point, c.net.due(point)
}

// dials lets outages act on the first message, which names the client: it counts as the dial.
func (c *Conn) dials(m *Message, now time.Duration) []Action {
	var actions []Action
	if c.state == Hanging {
		c.state = Open
		actions = append(actions, act(func(d Driver) { d.Admit(c) }))
	}
	answer, until, struck := c.net.Dial(m.Client, c.Server, now)
	actions = append(actions, struck...)
	switch answer {
	case Refused:
		return append(actions, c.endSoon(errReset)...)
	case Hangs:
		marks.Hit("handshake that hangs")
		c.state = Hanging
		c.Up.hold(until)
		c.Up.putBack(m)
		return append(actions,
			act(func(d Driver) { d.Hang(c) }), act(func(d Driver) { d.Later(c, true, until) }))
	}
	if until := c.net.waitsFor(c, &c.Up, m, now); until > 0 {
		return append(actions, c.putOff(m, until)...)
	}
	return append(actions, act(func(d Driver) { d.Apply(c, m, nil) }))
}

// putOff makes a message of the client wait where it was.
func (c *Conn) putOff(m *Message, until time.Duration) []Action {
	m.NotBefore = until
	c.Up.putBack(m)
	return []Action{act(func(d Driver) { d.Later(c, true, until) })}
}

// FromServer takes a message that the server sends to the client. The fault, if
// given, is that of the Apply that caused it.
func (c *Conn) FromServer(m *Message, f *Armed, now time.Duration) []Action {
	damage := damageBy(f)
	switch {
	case c.state == Severed || c.state == Lost || c.state == Over || damage.passes == nothing:
		return nil
	case damage.passes == whole || m.Event != nil:
		return m.alone(c.send(m))
	}
	first, second := m.split()
	if !damage.restLater {
		return []Action{c.send(first)}
	}
	second.NotBefore = now + f.For
	return []Action{c.send(first), c.send(second)}
}

// Applied says that the server has sent all output of an Apply with this fault.
func (c *Conn) Applied(f *Armed, now time.Duration) []Action {
	damage := damageBy(f)
	switch {
	case f == nil || damage.restLater:
		return nil
	case damage.failover:
		return append([]Action{c.net.failover(f, now+f.For)}, c.endSoon(errReset)...)
	}
	return c.endSoon(errReset)
}

// ServerClosed says that the server has closed the connection. The fault, if
// given, is that of the Apply that caused it.
func (c *Conn) ServerClosed(f *Armed) []Action {
	if f != nil && !damageBy(f).restLater {
		return nil // Applied resets the connection
	}
	return c.endSoon(io.EOF)
}

// ClientClosed says that the client has closed its end, or, if half is set, only
// its direction. The server hears of it in its turn.
func (c *Conn) ClientClosed(half bool) []Action {
	if c.state == Open || c.state == Frozen {
		c.QueueUp(&Message{End: io.EOF, Half: half})
		return nil
	}
	return c.clientEnds(half)
}

func (c *Conn) sever(d Driver)  { d.Sever(c) }
func (c *Conn) forget(d Driver) { d.Forget(c) }

// send returns the action Send.
func (c *Conn) send(m *Message) Action {
	m.conn = c
	return (*sent)(m)
}

func isClientsEnd(m *Message) bool { return m.End == io.EOF }

// clientEnds handles the client's end of the connection.
func (c *Conn) clientEnds(half bool) []Action {
	switch {
	case c.state == Blackholed:
		c.state = BlackholedGone
		return []Action{act(func(d Driver) { d.Unheard(c) })}
	case c.state == BlackholedGone, c.state == Over, c.state == Severed && half:
		return nil
	case c.state == Severed || c.state == Lost:
		c.Close()
		return []Action{act(c.forget)}
	case c.state == Open && half:
		marks.Hit("half close")
		return c.endSoon(io.EOF)
	}
	c.Close()
	return []Action{act(c.sever), act(c.forget)}
}

// endSoon ends the connection for the server now, and for the client behind the messages under way
// to it.
func (c *Conn) endSoon(err error) []Action {
	switch c.state {
	case Open, Hanging:
		c.state = Severed
	case Blackholed:
		c.state = Lost
	case BlackholedGone:
		marks.Hit("gone at both ends")
		c.Close()
		return []Action{act(c.sever), act(c.forget)}
	default:
		return nil
	}
	c.Up.empty()
	return []Action{act(c.sever), c.send(&Message{End: err})}
}

// Reset ends the connection for both ends at once.
func (c *Conn) Reset(err error) []Action {
	if c.state == Over {
		return nil
	}
	c.Close()
	return []Action{act(func(d Driver) { d.Reset(c, err) })}
}

// Hold holds both lanes, unless messages vanish.
func (c *Conn) Hold(until time.Duration) {
	if !c.vanishes() {
		c.Up.hold(until)
		c.Down.hold(until)
	}
}

// HoldReplies holds the lane to the client.
func (c *Conn) HoldReplies(until time.Duration) {
	if !c.vanishes() {
		c.Down.hold(until)
	}
}

// Freeze keeps the connection from moving until it is reset.
func (c *Conn) Freeze() { c.state = Frozen }

// Empty discards the messages under way on a connection in a black hole. The end that the client
// has sent may be among them.
func (c *Conn) Empty() {
	if c.state == Blackholed && c.Up.ends() {
		marks.Hit("end lost in a black hole")
		c.state = BlackholedGone
	}
	c.Up, c.Down = Lane{}, Lane{}
}

// Close forgets the connection.
func (c *Conn) Close() {
	c.state = Over
	c.Up.empty()
	c.Down.empty()
	delete(c.net.conns, c.ID)
}
