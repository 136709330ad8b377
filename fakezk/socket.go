package fakezk

import (
	"net"
	"sync"
	"time"
)

// socket reads and writes one connection. One goroutine reads. Several may write, one at a time. A
// waiting read holds no buffer if the system allows that.
type socket struct {
	conn     net.Conn
	poll     *pollSocket // nil: a read has to hold a buffer while it waits
	lastRead *readBuffer // the last result of read
	plain    []byte      // used in place of lastRead if poll is nil
}

// readBuffer is the buffer of one read: enough for a burst of requests, and few reads for a large
// one.
type readBuffer [64 << 10]byte

var readBuffers = sync.Pool{New: func() any { return new(readBuffer) }}

func newSocket(conn net.Conn) *socket {
	return &socket{conn: conn, poll: newPollSocket(conn)}
}

// read waits for bytes, which are the caller's until release. There may be bytes beside an error.
func (s *socket) read() ([]byte, error) {
	if s.poll != nil {
		var n int
		var err error
		s.lastRead, n, err = s.poll.read()
		if s.lastRead == nil {
			return nil, err
		}
		return s.lastRead[:n], err
	}
	if s.plain == nil {
		s.plain = make([]byte, 4<<10)
	}
	n, err := s.conn.Read(s.plain)
	return s.plain[:n], err
}

func (s *socket) release() {
	if s.lastRead != nil {
		readBuffers.Put(s.lastRead)
		s.lastRead = nil
	}
}

// tryWrite writes as much as the system takes at once, which may be nothing.
func (s *socket) tryWrite(p []byte) (int, error) {
	if s.poll == nil {
		return 0, nil
	}
	return s.poll.tryWrite(p)
}

func (s *socket) write(p []byte) error {
	_, err := s.conn.Write(p)
	return err
}

// interrupt ends a read under way, and a write at a later time. Errors mean
// that the connection is closed, which ends both as well.
func (s *socket) interrupt(write time.Time) {
	_ = s.conn.SetReadDeadline(time.Unix(1, 0))
	_ = s.conn.SetWriteDeadline(write)
}

// close ends the connection. It first ends the server's direction, so that the client finds the end
// of the output. Then it reads and drops all bytes that the client has sent, and closes the rest. A
// socket closed with unread bytes sends a reset. On a reset some systems drop bytes that their user
// has not read yet, the reply to closeSession for example.
func (s *socket) close() {
	s.drain()
	_ = s.conn.Close()
}

// reset ends the connection with an error for the client, at once: bytes that the system has not
// sent are lost, and TLS sends no goodbye, for which it would wait.
func (s *socket) reset() {
	if tcp, ok := s.bare().(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // an error means that it is closed already
	}
	_ = s.bare().Close()
}

func (s *socket) drain() {
	if half, ok := s.conn.(*net.TCPConn); ok && s.poll != nil {
		_ = half.CloseWrite() // fails if the client is gone, which is fine
		_ = half.SetReadDeadline(time.Time{})
		s.poll.discard()
	}
}

// bare is the connection below TLS.
func (s *socket) bare() net.Conn {
	if secured, ok := s.conn.(interface{ NetConn() net.Conn }); ok {
		return secured.NetConn()
	}
	return s.conn
}
