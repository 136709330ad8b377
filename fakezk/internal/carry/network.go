package carry

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
)

// A Network is the connections of a run, or of a server, and the faults that are
// armed for them. Use New.
type Network struct {
	armed   []*Armed
	waiting []*Armed // those bound to a request or event that has not come
	timed   []*Armed // those bound to a time that has not come
	healed  bool

	conns   map[int64]*Conn
	outages []outage
	*Servers
}

// Armed is a fault that is armed, and its progress.
type Armed struct {
	fault.Fault
	// Seen counts the coordinates that matched, up to the one it acted on.
	Seen int
	// Fired says that the fault has acted on something.
	Fired bool

	at time.Duration // of a fault bound to a time
}

// New is a Network without connections. A time of a fault counts from 0.
func New(plan ...fault.Fault) *Network {
	n := &Network{conns: map[int64]*Conn{}, Servers: NewServers()}
	for _, f := range plan {
		n.Arm(f, 0)
	}
	return n
}

// Arm adds a fault. Its coordinates and its time count from now on.
func (n *Network) Arm(f fault.Fault, now time.Duration) {
	a := &Armed{Fault: f, at: now + f.At}
	n.armed = append(n.armed, a)
	if f.At == 0 {
		n.waiting = append(n.waiting, a)
	} else {
		n.timed = append(n.timed, a)
	}
}

// Armed lists all faults in the order in which they were armed.
func (n *Network) Armed() []*Armed { return n.armed }

// Missed lists the faults that have not acted on anything.
func (n *Network) Missed() []fault.Fault {
	var missed []fault.Fault
	for _, f := range n.armed {
		if !f.Fired {
			missed = append(missed, f.Fault)
		}
	}
	return missed
}

// Waiting reports whether a fault may act on a request or an event, or a request may have to wait
// for a server or for the leader.
func (n *Network) Waiting() bool { return (len(n.waiting) > 0 || n.keepsApart()) && !n.healed }

// Healed reports whether Heal was called.
func (n *Network) Healed() bool { return n.healed }

// Open adds a connection.
func (n *Network) Open(c *Conn) {
	c.net = n
	n.conns[c.ID] = c
}

// Conns lists the connections that are not over, in the order of their IDs.
func (n *Network) Conns() []*Conn {
	return slices.SortedFunc(maps.Values(n.conns), func(a, b *Conn) int {
		return cmp.Compare(a.ID, b.ID)
	})
}

// reachable lists the connections of the client, and to the server, that a fault can cut or hold:
// by client, then in the order in which the client made them.
func (s *strike) reachable() []*Conn {
	list := slices.DeleteFunc(s.net.Conns(), func(c *Conn) bool {
		return c.state != Open || s.client != 0 && c.clientID() != s.client ||
			!s.fault.concerns(c.Server)
	})
	slices.SortStableFunc(list, func(a, b *Conn) int {
		return cmp.Or(cmp.Compare(a.clientID(), b.clientID()), cmp.Compare(a.Number, b.Number))
	})
	return list
}

func (c *Conn) clientID() int64 {
	if c.Client == nil {
		return 0
	}
	return c.Client.ID
}

// CountEvent counts a message that is an event, also one that is about to be lost.
func (c *Conn) CountEvent(m *Message) {
	if c.Client == nil {
		return
	}
	c.Client.events++
	m.Number = c.Client.events
	m.Point = c.coordinate()
	m.Point.Event, m.Point.Path = true, m.Event.Path
	m.faults = c.net.due(m.Point)
}

// due counts one coordinate for every fault that selects it, and returns the faults that act on it.
func (n *Network) due(point fault.Coordinate) []*Armed {
	if !n.Waiting() {
		return nil
	}
	var now []*Armed
	for _, f := range n.waiting {
		if !f.Selects(point) {
			continue
		}
		if f.Seen++; f.turnHasCome() {
			now = append(now, f)
		}
	}
	if len(now) > 0 {
		n.waiting = slices.DeleteFunc(n.waiting, (*Armed).turnHasCome)
	}
	return now
}

// turnHasCome reports whether the fault has reached its coordinate: no further one matters.
func (f *Armed) turnHasCome() bool {
	return f.Seen == f.Request+f.Event // one of them is zero
}

// Due removes the faults that are due and returns them, in the order in which they were armed. The
// driver lets each of them Strike.
func (n *Network) Due(now time.Duration) []*Armed {
	var due, left []*Armed
	for _, f := range n.timed {
		if f.at <= now {
			due = append(due, f)
		} else {
			left = append(left, f)
		}
	}
	n.timed = left
	return due
}

// Next is when there is something to do: for a fault bound to a time, for a connection, or for a
// server that reaches the others again, goes on, or notices that it leads no more.
func (n *Network) Next() (at time.Duration, ok bool) {
	take := func(t time.Duration, found bool) {
		if found && (!ok || t < at) {
			at, ok = t, true
		}
	}
	for _, f := range n.timed {
		take(f.at, true)
	}
	for _, c := range n.conns {
		take(c.Next())
	}
	for _, spans := range []map[int]span{n.cutOff, n.paused} {
		for _, s := range spans {
			take(s.until, true)
		}
	}
	for server := range n.believes {
		take(n.BelievesUntil(server), true)
	}
	return at, ok
}

// HeldUntil is when faults hold nothing any more on any connection.
func (n *Network) HeldUntil() (until time.Duration) {
	for _, c := range n.conns {
		until = max(until, c.Up.heldUntil(), c.Down.heldUntil())
	}
	return until
}

// Heal disarms all faults, ends outages, and brings servers back and together. Held messages are
// delivered at their time.
func (n *Network) Heal(now time.Duration) (actions []Action) {
	n.healed, n.outages = true, nil
	clear(n.backAt)
	clear(n.lagging)
	clear(n.cutOff)
	clear(n.paused)
	clear(n.believes)
	for server := range n.ensemble.Servers {
		if n.apart[server] {
			actions = append(actions, n.TakeDown(server, now)...)
		}
	}
	return actions
}

// Release releases held messages at once; connections in a black hole are reset.
func (n *Network) Release() []Action {
	var actions []Action
	for _, c := range n.Conns() {
		if c.vanishes() {
			actions = append(actions, c.Reset(errReset)...)
			continue
		}
		c.Up.release()
		c.Down.release()
	}
	return actions
}
