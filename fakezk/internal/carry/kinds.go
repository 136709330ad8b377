package carry

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A rule is the effect of a kind of fault, for each of the coordinates that the kind takes: a
// request that is about to be applied, an event that is about to be delivered, or a time. A kind
// that takes a request acts on it before it is applied or damages its reply.
type rule struct {
	request, event, time func(*strike)
	reply                *damage
}

// ruleOf is the table of faults.
func ruleOf(kind fault.Kind) (r rule, ok bool) {
	switch kind {
	case fault.DropRequest:
		r = rule{request: reset}
	case fault.DropReply:
		r = rule{reply: &damage{passes: nothing}}
	case fault.Cut:
		r = rule{reply: &damage{passes: whole}, event: resetNow, time: reset}
	case fault.CutMidFrame:
		r = rule{reply: &damage{passes: half}, event: halfAndReset}
	case fault.Stall:
		r = rule{request: stall, event: stall, time: stall}
	case fault.StallMidFrame:
		r = rule{reply: &damage{passes: half, restLater: true}, event: halfAndRest}
	case fault.Delay:
		r = rule{request: delay, event: delay}
	case fault.Pause:
		r = rule{request: pause}
	case fault.Blackhole:
		r = rule{request: blackhole, time: blackhole}
	case fault.Refuse:
		r = rule{request: refuse, time: refuse}
	case fault.Expire, fault.LateReap:
		r = rule{request: expire, time: expire}
	case fault.Restart:
		r = rule{request: restart, time: restart}
	case fault.Crash, fault.Respawn:
		r = rule{request: crash, time: crash}
	case fault.Error:
		r = rule{request: answerError}
	case fault.Lag:
		r = rule{request: lag, time: lag}
	case fault.Isolate:
		r = rule{request: isolate, time: isolate}
	case fault.PauseServer:
		r = rule{request: pauseServer, time: pauseServer}
	case fault.Elect:
		r = rule{request: elect, time: elect}
	case fault.FailoverLose:
		r = rule{request: failover, time: failover}
	case fault.FailoverKeep:
		r = rule{reply: &damage{passes: nothing, failover: true}}
	default:
		return rule{}, false
	}
	return r, true
}

// Applies reports whether the server may handle a request when the fault acts on it. True is the
// safe answer for a proof: then the fault touches what its request touches.
func (f *Armed) Applies() bool {
	r, _ := ruleOf(f.Kind)
	return r.reply != nil || f.Kind == fault.Pause || f.Kind == fault.Error
}

// damage is the effect of a fault on the server's output for a request, on its connection: the part
// of the reply that passes, and whether the rest comes later. If it does not, the connection is
// reset. Events pass whole, or are lost with the reply.
type damage struct {
	passes    part
	restLater bool
	failover  bool // the leader goes down when it has applied the request
}

type part int

const (
	whole part = iota
	half
	nothing
)

// damageBy is the damage by the fault of an Apply, which may be nil.
func damageBy(f *Armed) damage {
	if f != nil {
		if r, _ := ruleOf(f.Kind); r.reply != nil {
			return *r.reply
		}
	}
	return damage{}
}

// A strike is a fault that acts: on a message of a connection, or, if these are nil, at a time.
type strike struct {
	net     *Network
	fault   *Armed
	conn    *Conn
	lane    *Lane
	message *Message
	client  int64 // whose connections and sessions are hit; 0: all clients
	now     time.Duration

	hit     bool // there was something to act on
	putOff  bool // the message is on hold
	actions []Action
}

// Strike lets a fault act at its time. If there is nothing to act on, the fault has not fired.
func (n *Network) Strike(f *Armed, now time.Duration, d Driver) {
	if n.healed {
		return
	}
	d.FaultDue(f)
	client, ok := d.Target(f)
	if !ok {
		marks.Hit("fault without a target")
		return
	}
	Perform(n.strike(f, client, now), d)
}

// strike lets a fault act that is bound to a time: on a client, or on all clients if 0.
func (n *Network) strike(f *Armed, client int64, now time.Duration) []Action {
	r, _ := ruleOf(f.Kind)
	if r.time == nil {
		return nil
	}
	s := &strike{net: n, fault: f, client: client, now: now}
	r.time(s)
	if s.hit {
		s.add(n.Fired(f)...)
	}
	return s.actions
}

// Fired says that a fault has acted on something: it is Struck, the first time.
func (n *Network) Fired(f *Armed) []Action {
	return f.first(act(func(d Driver) { d.Struck(f) }))
}

// first is the list of an action if the fault acts for the first time, else empty.
func (f *Armed) first(do Action) []Action {
	if f.Fired {
		return nil
	}
	f.Fired = true
	return []Action{do}
}

// deliver passes a message on, or lets the first of its faults act instead.
func (n *Network) deliver(c *Conn, lane *Lane, m *Message, now time.Duration) []Action {
	if until := n.waitsFor(c, lane, m, now); until > 0 {
		return c.putOff(m, until)
	}
	if len(m.faults) == 0 || n.healed {
		m.conn = c
		if lane == &c.Up {
			return m.alone((*applied)(m))
		}
		return m.alone((*delivered)(m))
	}
	f := m.faults[0]
	m.faults = m.faults[1:] // the others act when the message comes again
	s := &strike{net: n, fault: f, conn: c, lane: lane, message: m, client: c.clientID(), now: now}
	taken := false
	if effect := s.rule(); effect != nil {
		effect(s)
		taken = !s.putOff
	} else {
		s.add(act(func(d Driver) { d.Apply(c, m, f) }))
	}
	return append(f.first(act(func(d Driver) { d.Hit(c, m, f, taken) })), s.actions...)
}

// rule returns the effect of the fault on the message before it is handed on, nil if the fault
// damages the reply.
func (s *strike) rule() func(*strike) {
	r, _ := ruleOf(s.fault.Kind)
	if s.message.Event != nil {
		return r.event
	}
	return r.request
}

func (s *strike) add(actions ...Action) { s.actions = append(s.actions, actions...) }

// until is when a fault that lasts is over.
func (s *strike) until() time.Duration { return s.now + s.fault.For }

// conns are the connections concerned: that of the message, or, at a time, all of the client.
func (s *strike) conns() []*Conn {
	if s.message != nil {
		return []*Conn{s.conn}
	}
	return s.reachable()
}

// putBack makes the message wait where it was.
func (s *strike) putBack() {
	if s.message == nil {
		return
	}
	s.putOff = true
	c, up := s.conn, s.lane == &s.conn.Up
	s.lane.putBack(s.message)
	_, at, _ := s.lane.First()
	s.add(act(func(d Driver) { d.Later(c, up, at) }))
}

// reset ends the connections for the server now, and for the client behind the messages under way
// to it.
func reset(s *strike) {
	for _, c := range s.conns() {
		s.hit = true
		s.add(c.endSoon(errReset)...)
	}
}

// resetNow ends the connection instead of delivering the event.
func resetNow(s *strike) { s.add(s.conn.Reset(errReset)...) }

// halfAndReset delivers half of the event before the connection ends.
func halfAndReset(s *strike) {
	c := s.conn
	first, _ := s.message.split()
	s.add(act(func(d Driver) { d.Deliver(c, first) }))
	resetNow(s)
}

// halfAndRest delivers half of the event; the rest and all that follows wait.
func halfAndRest(s *strike) {
	c := s.conn
	first, second := s.message.split()
	s.add(act(func(d Driver) { d.Deliver(c, first) }))
	marks.Hit("rest of an event")
	second.NotBefore = s.until()
	s.message = second
	s.putBack()
}

// stall holds the connections both ways.
func stall(s *strike) {
	for _, c := range s.conns() {
		s.hit = true
		c.Hold(s.until())
	}
	s.putBack()
}

// delay holds the lane of the message.
func delay(s *strike) {
	s.lane.hold(s.until())
	s.putBack()
}

// pause keeps the caller from the reply. The request goes on.
func pause(s *strike) {
	c, m, f, until := s.conn, s.message, s.fault, s.until()
	s.add(act(func(d Driver) { d.Pause(c, m, f, until) }))
	s.goOn()
}

// answerError keeps the server from applying the request. The request goes on.
func answerError(s *strike) {
	s.message.Refusal = proto.ErrorNamed(s.fault.Code)
	s.goOn()
}

// goOn hands the message on, or lets the next of its faults act.
func (s *strike) goOn() {
	s.putOff = true
	s.add(s.net.deliver(s.conn, s.lane, s.message, s.now)...)
}

// blackhole lets everything vanish that the client sends and gets on its
// connections, for ever, and its dials hang for a while.
func blackhole(s *strike) {
	s.hit = s.net.addOutage(s.fault, s.client, s.now)
	for _, c := range s.reachable() {
		s.hit = true
		c.state = Blackholed
		s.add(act(func(d Driver) { d.Vanish(c) }))
	}
}

// refuse resets the client's connections, and its dials fail for a while.
func refuse(s *strike) {
	s.hit = s.net.addOutage(s.fault, s.client, s.now)
	for _, c := range s.reachable() {
		s.hit = true
		s.add(c.endSoon(errReset)...)
	}
}

// expire ends the session of the connection, or all sessions of the client, at once or
// with the ephemerals left for a while.
func expire(s *strike) {
	n, c, client, f := s.net, s.conn, s.client, s.fault
	if c != nil {
		s.add(act(func(d Driver) { d.ExpireOn(c, f.For) }))
		return
	}
	s.add(act(func(d Driver) {
		for _, session := range d.Sessions(client) {
			if d.Expire(session, f.For) {
				Perform(n.Fired(f), d)
			}
		}
	}))
}

// crash ends the processes of clients: the server finds their connections closed, and they hear of
// nothing any more.
func crash(s *strike) {
	for _, c := range s.net.Conns() {
		if s.client != 0 && c.clientID() != s.client {
			continue
		}
		if c.known() {
			s.add(act(c.sever))
		}
		c.state = Lost
	}
	client, f, until := s.client, s.fault, s.until()
	s.add(act(func(d Driver) { d.Crash(client, f, until) }))
}

// lag keeps the server of the connection, or the servers of the client, from applying changes. The
// request goes on.
func lag(s *strike) {
	f, until := s.fault, s.until()
	s.onServers(func(server int) {
		s.add(act(func(d Driver) {
			for _, lagging := range s.net.lagFor(server, until) {
				d.Lag(lagging, f, until)
			}
		}))
	})
}

// isolate cuts the server of the connection, or the servers of the client, off from the others. The
// request goes on as far as it can.
func isolate(s *strike) {
	f, until := s.fault, s.until()
	s.onServers(func(server int) {
		if !s.net.isReal() {
			s.net.cutOffFor(server, s.now, until)
		}
		s.add(act(func(d Driver) { d.Isolate(server, f, until) }))
	})
}

// isReal reports whether the servers are real ones: who does not reach the others, or stands still,
// keeps messages by itself.
func (n *Servers) isReal() bool { return n.ensemble.Leader == nil }

// pauseServer lets the server of the connection, or the servers of the client, stand still. The
// request waits.
func pauseServer(s *strike) {
	f, until := s.fault, s.until()
	s.onServers(func(server int) {
		if !s.net.isReal() {
			s.net.pauseFor(server, s.now, until)
		}
		s.add(act(func(d Driver) { d.PauseServer(server, f, until) }))
	})
}

// onServers emits do once for each server hit: the fault's, else that of each connection. Then it
// hands the message on.
func (s *strike) onServers(do func(server int)) {
	var servers []int
	if s.conn == nil && s.fault.Server > 0 {
		servers = []int{s.fault.Server - 1}
	} else {
		for _, c := range s.conns() {
			if !slices.Contains(servers, c.Server) {
				servers = append(servers, c.Server)
			}
		}
	}
	for _, server := range servers {
		s.hit = true
		do(server)
	}
	if s.message != nil {
		s.goOn()
	}
}

// elect lets the servers elect a leader, which takes a while.
func elect(s *strike) {
	s.hit = true
	f, until := s.fault, s.until()
	s.add(act(func(d Driver) { d.Elect(f, until) }))
}

// failover takes the leader down.
func failover(s *strike) {
	s.hit = true
	s.add(s.net.failover(s.fault, s.until()))
}

// failover takes the leader down until a time. All connections end if nobody knows which server
// leads.
func (n *Network) failover(f *Armed, until time.Duration) Action {
	return act(func(d Driver) {
		if !n.isReal() {
			Perform(n.TakeDown(n.ensemble.Leader(), until), d)
		} else {
			marks.Hit("leader unknown")
			for server := range n.ensemble.Servers {
				Perform(n.TakeDown(server, until), d)
			}
		}
		d.Failover(f, until)
	})
}

// restart takes a server down for a while: that of the fault, of the connection or of the client,
// or the first one. It forgets its connections.
func restart(s *strike) {
	s.hit = true
	server := max(0, s.fault.Server-1)
	if conns := s.conns(); len(conns) > 0 && (s.conn != nil || s.client != 0) {
		server = conns[0].Server
	}
	s.add(s.net.goDown(server)...)
	ends := s.net.endAll(server, s.until())
	f, backAt := s.fault, s.net.backAt[server]
	s.add(act(func(d Driver) { d.Restart(server, f, backAt) }))
	s.add(ends...)
}
