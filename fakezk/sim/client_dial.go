package sim

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/dialhook"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
)

// Overlaid says that the program was built by zksim go: then clients may dial any address
// themselves, by TCP, and reach the World's server.
const Overlaid = dialhook.Overlaid

// Address is an address of the World's servers, for code that dials by itself; see [Overlaid]. Of
// several servers each dial reaches one that is drawn, as behind a load balancer.
const Address = "127.0.0.1:2181"

// RootCA is a certificate, as PEM, for code that dials by itself and through TLS. It is that of the
// authority of the World's server, which has a certificate for any host, and answers with TLS if
// the client begins with it. It asks for no certificate of the client.
func RootCA() []byte { return tlsend.RootCA() }

// dialing is a dial that waits for the World.
type dialing struct {
	process  *process
	connect  int    // of the client's calls of Connect
	server   int    // its number; -1: one is drawn for the client's own code
	host     string // that the client's own code dials, "" for Connect
	timeout  time.Duration
	result   chan dialResult
	canceled bool // nobody waits for the result any more; guarded by the inbox
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

// end lets the dial return.
func (d *dialing) end(r dialResult) {
	d.process.woken()
	d.result <- r
}

// requestDial hands a dial to the World.
func (c *Client) requestDial(d *dialing) *dialing {
	d.process, d.result = c.process, make(chan dialResult, 1)
	c.inbox.add(func(m *mail) { m.dials = append(m.dials, d) })
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
	server := slices.Index(addresses[:c.inbox.world.servers()], address)
	if address == Address {
		server = -1
	}
	d := c.requestDial(&dialing{host: host, server: server, timeout: timeout})
	select {
	case r := <-d.result:
		return r.conn, r.err
	case <-ctx.Done():
	}
	c.inbox.cancel(d)
	return nil, ctx.Err()
}
