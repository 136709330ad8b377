package realworld

import (
	"io"
	"net"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/memnet"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// link is one connection of a client, in memory up to the proxy, and the proxy's own to the server.
// All of it is guarded by the run's mutex. The Tag of a message to the client is its text in the
// trace.
type link struct {
	proxy  *proxy
	client *Client
	conn   *carry.Conn
	end    *memnet.Conn // the client's
	server net.Conn

	frames   wire.Splitter
	session  int64
	greeted  bool       // the handshake went up
	waiting  []*request // requests that the server has not answered, in order
	lastZxid int64      // of the newest reply; -1 before
	ending   bool       // it is to hang up when all writes are answered
	watches  watchesBy
}

// onWrite and onClose are called by the client.
func (l *link) onWrite(p []byte) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	err := l.frames.Feed(p, func(f []byte) {
		l.conn.QueueUp(&carry.Message{Bytes: slices.Clone(f)})
	})
	if err != nil {
		l.conn.QueueUp(&carry.Message{End: err})
	}
	l.move()
}

func (l *link) onClose() {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.proxy.carryOut(l.conn.ClientClosed(false))
	l.move()
}

// read takes the server's output, to the end of the connection.
func (l *link) read() {
	defer l.proxy.readers.Done()
	for {
		packet, err := wire.ReadPacket(l.server, wire.DefaultMaxFrame)
		l.proxy.mu.Lock()
		switch {
		case err != nil:
			l.proxy.carryOut(l.conn.ServerClosed(nil))
		case !l.marks(packet):
			l.received(l.clientsPacket(l.refused(packet)))
		}
		l.move()
		l.proxy.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// move releases all messages that may go. A timer moves the others in time.
func (l *link) move() {
	for l.conn.Ready(&l.conn.Up, l.proxy.clock.now()) {
		l.proxy.carryOut(l.conn.DeliverUp(l.proxy.clock.now()))
	}
	l.moveDown()
}

func (l *link) moveDown() {
	for l.conn.Ready(&l.conn.Down, l.proxy.clock.now()) {
		l.proxy.carryOut(l.conn.DeliverDown(l.proxy.clock.now()))
	}
	if at, ok := l.conn.Next(); ok {
		time.AfterFunc(l.proxy.clock.real(at-l.proxy.clock.now()), func() {
			l.proxy.mu.Lock()
			defer l.proxy.mu.Unlock()
			l.move()
		})
	}
}

// over ends the connection for the client.
func (l *link) over(err error) {
	l.proxy.journal.log(l.client.name, "connection %d: %s", l.conn.Number, tracetext.End(err))
	l.end.Fail(err)
	delete(l.proxy.links, l.conn.ID)
}

// hangUp closes the proxy's direction of its connection to the server. Further answers of the
// server are still read, as a record of its actions. A server that finds the end may not answer any
// more: so a guest, who has no other record, waits for the answers to writes.
func (l *link) hangUp() {
	server := l.server
	if l.awaitsWrite() && !l.ending {
		l.ending = true
		time.AfterFunc(lastAnswers, func() { closeQuietly(server) })
		return
	}
	if tcp, ok := server.(*net.TCPConn); ok {
		if err := tcp.CloseWrite(); err == nil {
			time.AfterFunc(lastAnswers, func() { closeQuietly(server) })
			return
		}
	}
	closeQuietly(server)
}

// awaitsWrite reports whether a guest waits for the answer to a write.
func (l *link) awaitsWrite() bool {
	return l.proxy.guest.root != "" && slices.ContainsFunc(l.waiting, func(q *request) bool {
		return !q.Handshake && q.Header.Op.IsWrite()
	})
}

// lastAnswers is how long, in real time, a server may take to hang up, too.
const lastAnswers = 2 * time.Second

// closeQuietly closes a connection; its reader notices.
func closeQuietly(c io.Closer) { _ = c.Close() }
