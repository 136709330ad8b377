package testconn

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// wire is the client's end of a connection. It keeps replies back until the client has sent its
// watches, right after the handshake: until then the client reads, without a lock, a zxid that a
// reply changes (samuel/go-zookeeper issue 260), and the race detector would report that in any
// test that loses a connection.
type wire struct {
	net.Conn
	read    int // bytes read of the handshake's reply; of the reading goroutine
	reply   int // its length, once its first four bytes are read
	watches chan struct{}
	closed  chan struct{}
	once    sync.Once
	ending  sync.Once
}

func newWire(conn net.Conn) *wire {
	return &wire{Conn: conn, watches: make(chan struct{}), closed: make(chan struct{})}
}

// Close ends the connection at once, for a reader that waits for the watches, too.
func (w *wire) Close() error {
	w.ending.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

// setWatches is the operation by which a client sends its watches to a server.
const setWatches = 101

// Write lets replies pass from the watches on. The client writes one frame at a time.
func (w *wire) Write(frame []byte) (int, error) {
	if len(frame) >= 12 && binary.BigEndian.Uint32(frame[8:]) == setWatches {
		w.pass()
	}
	return w.Conn.Write(frame)
}

// pass lets replies pass.
func (w *wire) pass() { w.once.Do(func() { close(w.watches) }) }

// Read returns bytes of the handshake, and then of replies. A client without watches sends none.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if w.read >= 4+w.reply && w.read > 0 {
		select {
		case <-w.watches:
			return n, err
		case <-w.closed:
			return 0, io.EOF
		}
	}
	if w.read == 0 && n >= 4 {
		w.reply = int(binary.BigEndian.Uint32(p))
	}
	if w.read += n; w.read >= 4+w.reply {
		time.AfterFunc(time.Millisecond, w.pass)
	}
	return n, err
}
