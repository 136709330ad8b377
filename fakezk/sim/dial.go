package sim

import (
	"context"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/dialhook"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
)

// Overlaid says that the program was built by zksim go: then clients may dial any address
// themselves, by TCP, and reach the World's server.
const Overlaid = dialhook.Overlaid

// Address is an address of the World's server, or of the first one, for code that dials by itself;
// see [Overlaid].
const Address = "127.0.0.1:2181"

// RootCA is a certificate, as PEM, for code that dials by itself and through TLS. It is that of the
// authority of the World's server, which has a certificate for any host, and answers with TLS if
// the client begins with it. It asks for no certificate of the client.
func RootCA() []byte { return tlsend.RootCA() }

// dialing is a dial that waits for the World.
type dialing struct {
	client   *Client
	connect  int    // of the client's calls of Connect
	server   int    // its number
	host     string // that the client's own code dials, "" for Connect
	timeout  time.Duration
	result   chan dialResult
	canceled bool // nobody waits for the result any more; guarded by simulation.mu
}

type dialResult struct {
	conn net.Conn
	err  error
}

// dial is the dialer of the client's n-th Connect. It blocks until the World decides.
func (c *Client) dial(nth int, address string, timeout time.Duration) (net.Conn, error) {
	d := c.requestDial(&dialing{
		connect: nth, server: slices.Index(addresses, address), timeout: timeout,
	})
	r := <-d.result
	return r.conn, r.err
}

// requestDial hands a dial to the World.
func (c *Client) requestDial(d *dialing) *dialing {
	d.client, d.result = c, make(chan dialResult, 1)
	c.sim.mu.Lock()
	c.sim.dials = append(c.sim.dials, d)
	c.sim.mu.Unlock()
	c.sim.wakeUp()
	return d
}

// usualPatience is how long a dial without a deadline waits for an answer: as long as Linux does.
const usualPatience = 127 * time.Second

// ownNet is the network of the client's own code, under the overlay. Every host has the same
// address, and the address has no name.
func (c *Client) ownNet() dialhook.Net {
	return dialhook.Net{
		Dial: func(ctx context.Context, address string, deadline time.Time) (net.Conn, error,
			bool) {
			conn, err := c.dialDirect(ctx, address, deadline)
			return conn, err, true
		},
		Address: func(host string) (string, bool) {
			if net.ParseIP(host) != nil {
				return host, true
			}
			return "127.0.0.1", true
		},
		Name: func(string) (string, bool) { return "", true },
	}
}

// dialDirect is a dial of the client's own code. It returns when the World decides, or when ctx
// ends.
func (c *Client) dialDirect(ctx context.Context, address string, deadline time.Time) (net.Conn,
	error) {
	c.dialed.Store(true)
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	timeout := usualPatience
	if !deadline.IsZero() {
		timeout = max(0, time.Until(deadline))
	}
	d := c.requestDial(&dialing{host: host, timeout: timeout})
	select {
	case r := <-d.result:
		return r.conn, r.err
	case <-ctx.Done():
	}
	c.sim.mu.Lock()
	defer c.sim.mu.Unlock()
	d.canceled = true
	return nil, ctx.Err()
}

// beginDial decides when and how a dial ends.
func (s *simulation) beginDial(d *dialing) {
	c := d.client
	c.dials++
	wait := s.draws.Dial(c.index, c.dials)
	number := c.dials
	finish := func() { s.finishDial(d, number) }
	if s.hangIfDead(d) {
		return
	}
	if !s.closing.Load() {
		switch s.answer(d) {
		case carry.Hangs:
			finish = d.timeOut
			wait = d.timeout
		case carry.Refused:
			wait *= 10
			if d.connect == 0 { // the client's own code may dial in a loop
				wait += carry.RefusalPause
			}
		}
	}
	s.agenda.Schedule(s.agenda.Now()+wait, finish)
}

// answer returns the result of a dial.
func (s *simulation) answer(d *dialing) carry.Answer {
	if s.endingDead && d.client.dead.Load() {
		return carry.Accepted
	}
	if s.closing.Load() {
		return carry.Refused
	}
	answer, _, actions := s.net.Dial(d.client.peer.ID, d.server, s.agenda.Now())
	s.carryOut(actions)
	return answer
}

func (d *dialing) timeOut() { d.client.sim.failDial(d, os.ErrDeadlineExceeded) }

func (s *simulation) isCanceled(d *dialing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return d.canceled
}

// end lets the dial return.
func (d *dialing) end(r dialResult) {
	d.client.markWoken()
	d.result <- r
}

func (s *simulation) finishDial(d *dialing, number int) {
	if s.isCanceled(d) {
		return
	}
	c := d.client
	if s.hangIfDead(d) {
		return
	}
	switch s.answer(d) {
	case carry.Hangs: // it began before the black hole
		s.agenda.Schedule(s.agenda.Now()+d.timeout, d.timeOut)
		return
	case carry.Refused:
		if !s.closing.Load() {
			s.record.Log(c.name, "dial %d refused", number)
		}
		s.failDial(d, syscall.ECONNREFUSED)
		return
	}
	delete(c.failedDials, d.connect)
	s.nextConn++
	conn := &carry.Conn{ID: int64(s.nextConn), Client: &c.peer, Number: number, Server: d.server}
	l := &link{sim: s, id: s.nextConn, client: c, conn: conn, connect: d.connect,
		ownConn: ownConn{host: d.host}}
	l.arriveUp, l.arriveDown = l.deliverUp, l.deliverDown
	l.frames.Max = s.world.Server.maxFrame()
	l.end = tlsend.New(d.host, l.onWrite, l.onClose)
	s.links[l.id] = l
	s.net.Open(conn)
	s.engine.Open(l.id, d.server, "127.0.0.1", s.agenda.Clock())
	s.record.Log(c.name, "connects%s (connection %d)", s.toServer(d.server), number)
	d.end(dialResult{conn: l.end})
}
