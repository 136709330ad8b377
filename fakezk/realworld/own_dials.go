package realworld

import (
	"io"
	"net"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
)

// ownListener takes the connections by TCP of a client's own code. Each is a connection of the
// client: the faults act on it.
type ownListener struct {
	net.Listener
	used bool // the client's own code has dialed; the run's mutex guards it
}

// Address is the address, host:port, for code of the client that connects by itself, to the first
// server. It is opened at the first call. A dial that a fault refuses, or lets hang, succeeds here,
// and is closed at once, or after the time for which a dial would hang.
func (c *Client) Address() string {
	p := c.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.own == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			p.journal.fail(err)
			return carry.Address(0)
		}
		c.own = &ownListener{Listener: l}
		go c.receive(l)
		if p.closing {
			closeQuietly(l)
		}
	}
	return c.own.Addr().String()
}

// Session is the session of Conn. It is 0 if the client has called Connect, or its own code has
// dialed: then it has several sessions, and only the code knows which of them it uses.
func (c *Client) Session() int64 {
	conn := c.Conn()
	c.proxy.mu.Lock()
	several := len(c.conns) > 1 || c.own != nil && c.own.used
	c.proxy.mu.Unlock()
	if several {
		return 0
	}
	return conn.SessionID()
}

// receive takes the connections of the client's own code, until the listener is closed.
func (c *Client) receive(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go c.connected(conn)
	}
}

// connected connects the client's own code to the server, as dial decides. The code may speak TLS.
func (c *Client) connected(socket net.Conn) {
	c.proxy.mu.Lock()
	c.own.used = true
	c.proxy.mu.Unlock()
	own, err := tlsend.Accept(socket, "127.0.0.1")
	if err != nil {
		closeQuietly(socket)
		return
	}
	inner, err := c.proxy.dial(c, 0, serverPatience)
	if err != nil {
		reset(socket)
		return
	}
	go func() {
		// the client hangs up, or the connection is reset below
		_, _ = io.Copy(inner, own)
		closeQuietly(inner)
	}()
	_, err = io.Copy(own, inner)
	if err != nil {
		reset(socket)
	}
	closeQuietly(own)
}

// reset closes a TCP connection so that the other end gets an error and not the end of the data.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it is only the kind of the end
	}
	closeQuietly(conn)
}
