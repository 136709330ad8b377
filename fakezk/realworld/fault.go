package realworld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/trace"
)

// takeByFault lets a fault act on a request before the server gets it, and reports
// whether the request is taken: lost, or put off.
func (l *link) takeByFault(f *carry.Armed, m message) bool {
	r := l.run
	switch f.Kind {
	case fault.DropRequest:
		l.reset()
	case fault.Delay:
		l.hold(f.For, &l.up)
		l.up.putBack(m)
	case fault.Stall:
		l.hold(f.For, &l.up, &l.down)
		l.up.putBack(m)
	case fault.Blackhole, fault.Refuse:
		r.cutOff(f, l.client)
	case fault.Expire:
		r.expire(l.client, l.session)
	case fault.Restart:
		r.restart(f.For)
	default:
		return false
	}
	return true
}

// damageReply does to the reply of an applied request what a fault says.
func (l *link) damageReply(f *carry.Armed, m message) {
	half := len(m.bytes) / 2
	switch f.Kind {
	case fault.DropReply:
		l.reset()
	case fault.Cut:
		l.deliver(m)
		l.reset()
	case fault.CutMidFrame:
		l.conn.Deliver(m.bytes[:half])
		l.reset()
	case fault.StallMidFrame:
		l.conn.Deliver(m.bytes[:half])
		m.bytes, m.notBefore = m.bytes[half:], time.Now().Add(l.run.real(f.For))
		l.down.putBack(m)
	}
}

// takeEvent lets a fault act on a notification that is about to be delivered.
func (l *link) takeEvent(f *carry.Armed, m message) {
	half := len(m.bytes) / 2
	switch f.Kind {
	case fault.Cut:
		l.reset()
	case fault.CutMidFrame:
		l.conn.Deliver(m.bytes[:half])
		l.reset()
	case fault.StallMidFrame:
		l.conn.Deliver(m.bytes[:half])
		m.bytes, m.faults, m.notBefore = m.bytes[half:], nil, time.Now().Add(l.run.real(f.For))
		l.down.putBack(m)
	case fault.Stall:
		l.hold(f.For, &l.up, &l.down)
		l.down.putBack(m)
	case fault.Delay:
		l.hold(f.For, &l.down)
		l.down.putBack(m)
	}
}

// cutOff cuts a client off: by reset and refused dials, or by silence. It reports
// whether there was a connection, or the client is cut off already; if not, the fault
// has acted once a dial is hit.
func (r *run) cutOff(f *carry.Armed, c *Client) bool {
	if f.Kind == fault.Refuse {
		already := c.refuse.Add(f, r.now())
		return c.eachLink((*link).reset) || already
	}
	already := c.hang.Add(f, r.now())
	return c.eachLink(func(l *link) { l.lost = true }) || already
}

// eachLink visits the client's live connections and reports whether there were any.
func (c *Client) eachLink(visit func(*link)) bool {
	any := false
	for _, l := range slices.Clone(c.links) {
		if !l.dead && !l.lost && !l.doomed {
			visit(l)
			any = true
		}
	}
	return any
}

// fireAt lets a fault act that is bound to a time. If there is nothing for it to act
// on, it counts as missed.
func (r *run) fireAt(f *carry.Armed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.faultsOn {
		return
	}
	r.notes.Strike(r.log("fault", "%s", f.Fault), trace.Strike{Fault: f.Fault, Client: f.Client}, &f.Fired)
	if f.Kind == fault.Restart {
		f.Fired = true
		r.restart(f.For)
		return
	}
	for _, c := range r.clients {
		if f.Client == "" || f.Client == c.name {
			f.Fired = r.strikeAt(f, c) || f.Fired
		}
	}
}

// strikeAt lets a fault bound to a time act on one client, and reports whether there
// was anything to act on.
func (r *run) strikeAt(f *carry.Armed, c *Client) bool {
	switch f.Kind {
	case fault.Cut:
		return c.eachLink((*link).reset)
	case fault.Stall:
		return c.eachLink(func(l *link) { l.hold(f.For, &l.up, &l.down) })
	case fault.Expire:
		if c.session != 0 {
			r.expire(c, c.session)
		}
		return c.session != 0
	}
	return r.cutOff(f, c)
}

// expire ends a session at the server, as nobody but its owner can: by a second
// connection that takes it up and closes it. The client's own moves no more, and is
// closed when the session has ended.
func (r *run) expire(c *Client, session int64) {
	var doomed []*link
	c.eachLink(func(l *link) {
		if l.session == session {
			l.doomed = true
			doomed = append(doomed, l)
		}
	})
	password := r.sessions[session]
	r.background.Add(1)
	go func() {
		defer r.background.Done()
		err := r.endSession(session, password)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil && !r.down { // a server that is down ends no session
			r.failures = append(r.failures, err)
		}
		for _, l := range doomed {
			l.breakOff(io.EOF)
		}
	}()
}

// endSession takes a session up and closes it. One that is over already is fine.
func (r *run) endSession(session int64, password []byte) error {
	wrong := func(err error) error { return fmt.Errorf("end session %s: %w", tracetext.Session(session), err) }
	conn, err := net.DialTimeout("tcp", r.world.Server.Address(), serverPatience)
	if err != nil {
		return wrong(err)
	}
	defer closeQuietly(conn)
	if err := conn.SetDeadline(time.Now().Add(serverPatience)); err != nil {
		return wrong(err)
	}
	hello := proto.ConnectRequest{TimeoutMs: int32(r.real(r.world.SessionTimeout).Milliseconds()), SessionID: session, Password: password}
	if _, err := conn.Write(wire.AppendConnectRequest(nil, hello)); err != nil {
		return wrong(err)
	}
	packet, err := readPacket(conn)
	if err != nil {
		return wrong(err)
	}
	if answer, err := wire.DecodeConnectResponse(packet[4:]); err != nil || answer.SessionID == 0 {
		return err
	}
	if _, err := conn.Write(wire.AppendRequest(nil, closingXid, &proto.Simple{Code: proto.OpCloseSession})); err != nil {
		return wrong(err)
	}
	// What comes before its end are notifications and the reply.
	for err == nil {
		_, err = readPacket(conn)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return wrong(err)
	}
	return nil
}

// closingXid is the xid of the request that ends a session for a fault. No client
// comes so far.
const closingXid = 1<<31 - 1

// serverPatience is how long, in real time, a server may take to answer the proxy.
const serverPatience = 10 * time.Second

// restart kills the server and starts it again after a while. Every connection is
// reset, and dials are refused until it is back. On a server that is down already it
// does nothing.
func (r *run) restart(down time.Duration) {
	if r.down {
		return
	}
	r.log("server", "goes down for %s", down)
	r.down, r.downFrom = true, r.now()
	for _, c := range r.clients {
		c.eachLink((*link).reset)
	}
	r.background.Add(1)
	go func() {
		defer r.background.Done()
		ctx, cancel := context.WithTimeout(context.Background(), r.real(down)+restartPatience)
		defer cancel()
		err := r.world.Server.Restart(ctx, r.real(down))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.log("server", "is back")
		took := r.now() - r.downFrom
		r.downFor, r.out.Down = r.downFor+took, max(r.out.Down, took)
		if r.down = false; err != nil {
			r.failures = append(r.failures, err)
		}
	}()
}

// restartPatience is how long, in real time, a server may take to start.
const restartPatience = 2 * time.Minute
