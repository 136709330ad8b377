// Package tlsend is the server's side of a connection in memory on which the client may begin with
// a TLS handshake, as on a port of a real ZooKeeper with client.portUnification.
//
// The server reads the plain bytes that the client has sent through TLS, and writes plain bytes. A
// handshake takes no virtual time. The server shows a certificate for the host that the client
// names, or has dialed; the authority that has signed it is the same in each process. It asks for
// none of the client.
package tlsend

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/memnet"
)

// Conn is the client's end. Its methods for the server are Deliver, HandOver, Fail, Secure,
// ReadDeadline and BytesRead.
type Conn struct {
	*memnet.Conn
	host    string
	onWrite func([]byte)
	onClose func()

	mu     sync.Mutex
	begun  bool         // the client has written
	inner  *memnet.Conn // the server's end of the bytes of TLS; nil without
	server *tls.Conn    // on inner
	failed bool         // the server has ended the connection
}

// New returns a connected Conn; see [memnet.New]. host is the host that the client has dialed. With
// TLS the functions are called in a goroutine of the connection, which ends with it.
func New(host string, onWrite func([]byte), onClose func()) *Conn {
	c := &Conn{host: host, onWrite: onWrite, onClose: onClose}
	c.Conn = memnet.New(c.written, c.closed)
	return c
}

// handshakeRecord is the first byte of a TLS handshake. The first byte of a ZooKeeper connection is
// that of the length of a frame, 0, or a letter.
const handshakeRecord = 22

// written takes bytes of the client.
func (c *Conn) written(p []byte) {
	c.mu.Lock()
	if !c.begun && len(p) > 0 {
		c.begun = true
		if p[0] == handshakeRecord && !c.failed {
			c.inner = memnet.New(c.Conn.Deliver, func() {})
			c.server = tls.Server(c.inner, configFor(c.host))
			go c.serve()
		}
	}
	inner := c.inner
	c.mu.Unlock()
	if inner != nil {
		inner.Deliver(p)
		return
	}
	c.onWrite(p)
}

func (c *Conn) closed() {
	if c.Secure() {
		c.inner.Fail(io.EOF)
		return
	}
	c.onClose()
}

// serve passes on the plain bytes that the client sends through TLS.
func (c *Conn) serve() {
	var buffer [16 << 10]byte // the longest record
	for {
		n, err := c.server.Read(buffer[:])
		if n > 0 {
			c.onWrite(buffer[:n])
		}
		if err != nil {
			break
		}
	}
	c.Conn.Fail(io.EOF)
	c.mu.Lock()
	failed := c.failed
	c.mu.Unlock()
	if !failed {
		c.onClose()
	}
}

// Secure reports whether the client has begun a TLS handshake.
func (c *Conn) Secure() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server != nil
}

// Deliver is [memnet.Conn.Deliver], inside of TLS if the client speaks it.
func (c *Conn) Deliver(p []byte) {
	if c.Secure() {
		_, _ = c.server.Write(p) // an error is the end of the connection
		return
	}
	c.Conn.Deliver(p)
}

// HandOver is [memnet.Conn.HandOver]. Inside of TLS bytes are never late.
func (c *Conn) HandOver(p []byte, late time.Duration) {
	if c.Secure() {
		c.Deliver(p)
		return
	}
	c.Conn.HandOver(p, late)
}

// Fail is [memnet.Conn.Fail].
func (c *Conn) Fail(err error) {
	c.mu.Lock()
	c.failed = true
	inner := c.inner
	c.mu.Unlock()
	c.Conn.Fail(err)
	if inner != nil {
		_ = inner.Close() // it never fails
	}
}

// BytesRead is the number of bytes that the client has read, 0 with TLS.
func (c *Conn) BytesRead() int {
	if c.Secure() {
		return 0
	}
	return c.Conn.BytesRead()
}

// Accept returns a connection over TCP as the server sees it: if the client begins with a TLS
// handshake, the bytes inside of TLS. It waits for the client's first byte.
func Accept(conn net.Conn, host string) (net.Conn, error) {
	var first [1]byte
	if _, err := io.ReadFull(conn, first[:]); err != nil {
		return nil, err
	}
	again := &peeked{Conn: conn, first: first[:]}
	if first[0] != handshakeRecord {
		return again, nil
	}
	return tls.Server(again, configFor(host)), nil
}

// peeked is a connection with first bytes that were read before.
type peeked struct {
	net.Conn
	first []byte
}

func (p *peeked) Read(to []byte) (int, error) {
	if len(p.first) > 0 {
		n := copy(to, p.first)
		p.first = p.first[n:]
		return n, nil
	}
	return p.Conn.Read(to)
}
