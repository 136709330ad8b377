package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A rawConn is a connection with a session but without a client: it costs this
// process a socket and no goroutine.
type rawConn struct {
	net.Conn
	timeout time.Duration // of the session, as the server has granted it
}

// rawSession connects and opens a session. It asks for a session with this timeout, and gives each
// of its own steps as much time.
func rawSession(addr string, timeout time.Duration) (*rawConn, error) {
	conn, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		return nil, err
	}
	c := &rawConn{Conn: conn, timeout: timeout}
	if err := c.handshake(); err != nil {
		return nil, fmt.Errorf("open a session at %s: %w", addr, errors.Join(err, conn.Close()))
	}
	return c, nil
}

func (c *rawConn) handshake() error {
	request := make([]byte, 0, 48)
	request = binary.BigEndian.AppendUint32(request, 44)
	request = append(request, make([]byte, 4+8)...) // protocol version, last zxid seen
	request = binary.BigEndian.AppendUint32(request, uint32(c.timeout.Milliseconds()))
	request = append(request, make([]byte, 8)...) // no session yet
	request = appendBuffer(request, make([]byte, 16))
	reply, err := c.ask(request)
	if err != nil {
		return err
	}
	if len(reply) < 16 || binary.BigEndian.Uint64(reply[8:]) == 0 {
		return fmt.Errorf("the server answers the handshake with % x", reply)
	}
	c.timeout = time.Duration(binary.BigEndian.Uint32(reply[4:])) * time.Millisecond
	return nil
}

// headerBytes is the length of a reply's header: xid, zxid, error. No reply to ask is longer than
// longestReply.
const headerBytes, longestReply = 4 + 8 + 4, 64 << 10

// pingFrame is a whole request: xid -2, operation 11.
var pingFrame = []byte{0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 11}

// ping keeps the session alive.
func (c *rawConn) ping() error {
	reply, err := c.ask(pingFrame)
	if err == nil && (len(reply) != headerBytes || int32(binary.BigEndian.Uint32(reply)) != -2) {
		err = fmt.Errorf("the server answers a ping with % x", reply)
	}
	return err
}

// ask writes a frame and reads one.
func (c *rawConn) ask(request []byte) ([]byte, error) {
	if err := c.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return nil, err
	}
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > longestReply {
		return nil, fmt.Errorf("a reply of %d bytes", n)
	}
	reply := make([]byte, n)
	_, err := io.ReadFull(c, reply)
	return reply, err
}
