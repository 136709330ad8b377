package realworld

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/memnet"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// link is one connection of a client, in memory up to the proxy, and the
// proxy's own to the server. All of it is guarded by the run's mutex.
type link struct {
	run    *run
	client *Client
	number int // of the client's connections, from 1
	conn   *memnet.Conn
	server net.Conn

	frames   wire.Splitter
	up, down lane
	session  int64
	greeted  bool       // the handshake went up
	waiting  []*request // what the server has not answered, in order
	lastZxid int64      // of the newest reply; -1 before
	watches  watchesBy
	lost     bool // a black hole: bytes vanish
	doomed   bool // its session is being ended: nothing moves any more
	dead     bool
}

// lane is one direction. What does not flow waits in order.
type lane struct {
	until    time.Time // nothing moves before
	messages []message
}

// message is a frame on its way, or the end of the connection.
type message struct {
	bytes     []byte
	end       error
	about     fmt.Stringer        // for the trace
	event     *proto.WatcherEvent // a notification
	request   *request            // up: what it asks, once it was judged; down: what it answers
	faults    []*carry.Armed      // that still have to act on it
	notBefore time.Time
}

// open begins a connection.
func (r *run) open(c *Client, number int, server net.Conn) net.Conn {
	l := &link{run: r, client: c, number: number, server: server, watches: watchesBy{}, lastZxid: -1}
	l.frames.Max = buffer
	l.conn = memnet.New(l.onWrite, l.onClose)
	r.mu.Lock()
	defer r.mu.Unlock()
	c.links = append(c.links, l)
	r.log(c.name, "connects (connection %d)", number)
	r.readers.Add(1)
	go l.read()
	return l.conn
}

// onWrite and onClose are called by the client.
func (l *link) onWrite(p []byte) {
	l.run.mu.Lock()
	defer l.run.mu.Unlock()
	err := l.frames.Feed(p, func(f []byte) {
		l.up.messages = append(l.up.messages, message{bytes: slices.Clone(f)})
	})
	if err != nil {
		l.up.messages = append(l.up.messages, message{end: err})
	}
	l.move()
}

func (l *link) onClose() {
	l.run.mu.Lock()
	defer l.run.mu.Unlock()
	l.up.messages = append(l.up.messages, message{end: io.EOF})
	l.move()
}

// read takes what the server sends, to the end of the connection.
func (l *link) read() {
	defer l.run.readers.Done()
	for {
		packet, err := readPacket(l.server)
		l.run.mu.Lock()
		if err != nil {
			l.down.messages = append(l.down.messages, message{end: io.EOF})
		} else {
			l.arrived(packet)
		}
		l.move()
		l.run.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// readPacket reads one frame and its length before it.
func readPacket(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	n := int32(binary.BigEndian.Uint32(length[:]))
	if n < 0 || n > wire.DefaultMaxFrame {
		return nil, fmt.Errorf("the server sends a frame of %d bytes", n)
	}
	packet := append(length[:], make([]byte, n)...)
	_, err := io.ReadFull(from, packet[len(length):])
	return packet, err
}

// move lets everything go that may.
func (l *link) move() {
	for !l.dead && !l.doomed && l.moveUp() {
	}
	for !l.dead && !l.doomed && l.moveDown() {
	}
}

// take takes the first message of a lane, if it may go. If it has to wait, the
// link is looked at again in time.
func (l *link) take(lane *lane) (message, bool) {
	if len(lane.messages) == 0 {
		return message{}, false
	}
	m := lane.messages[0]
	until := lane.until
	if m.notBefore.After(until) {
		until = m.notBefore
	}
	if wait := time.Until(until); wait > 0 {
		l.moveAfter(wait)
		return message{}, false
	}
	lane.messages = lane.messages[1:]
	return m, true
}

func (l *link) moveAfter(wait time.Duration) {
	time.AfterFunc(wait, func() {
		l.run.mu.Lock()
		defer l.run.mu.Unlock()
		l.move()
	})
}

// putBack makes m the first message again.
func (lane *lane) putBack(m message) {
	lane.messages = slices.Insert(lane.messages, 0, m)
}

// held is until when something of the lane is held, if that is later than since.
func (lane *lane) held(since time.Time) time.Time {
	if lane.until.After(since) {
		since = lane.until
	}
	for _, m := range lane.messages {
		if m.notBefore.After(since) {
			since = m.notBefore
		}
	}
	return since
}

// hold keeps lanes from moving for a virtual while.
func (l *link) hold(d time.Duration, lanes ...*lane) {
	until := time.Now().Add(l.run.real(d))
	for _, lane := range lanes {
		if until.After(lane.until) {
			lane.until = until
		}
	}
}

// moveUp hands the server one message, if one may go.
func (l *link) moveUp() bool {
	m, ok := l.take(&l.up)
	switch {
	case !ok:
		return false
	case m.end != nil: // the client's; in a black hole the server does not hear of it
		l.end(!l.lost)
	case l.lost:
	case !l.greeted:
		l.greeted = true
		l.forward(&request{Request: engine.Request{Handshake: true}}, m.bytes)
	default:
		l.ask(m)
	}
	return true
}

// end forgets the connection and closes the proxy's own, or leaves that to the end
// of the world.
func (l *link) end(tellServer bool) {
	l.dead = true
	l.up, l.down = lane{}, lane{}
	if !tellServer {
		return // it stays among the client's links until the end
	}
	l.client.links = slices.DeleteFunc(l.client.links, func(other *link) bool { return other == l })
	l.hangUp()
}

// hangUp tells the server that nothing more comes. What it still answers is read,
// so that it is known what it did.
func (l *link) hangUp() {
	server := l.server
	if tcp, ok := server.(*net.TCPConn); ok {
		if err := tcp.CloseWrite(); err == nil {
			time.AfterFunc(lastAnswers, func() { closeQuietly(server) })
			return
		}
	}
	closeQuietly(server)
}

// lastAnswers is how long, in real time, a server may take to hang up, too.
const lastAnswers = time.Second

// closeQuietly closes a connection whose reader notices that it is.
func closeQuietly(c io.Closer) { _ = c.Close() }

// reset ends the connection at once: the client finds it reset after what was
// delivered.
func (l *link) reset() { l.breakOff(syscall.ECONNRESET) }

func (l *link) breakOff(err error) {
	if !l.dead {
		l.run.log(l.client.name, "connection %d: %s", l.number, tracetext.End(err))
		l.conn.Fail(err)
	}
	l.end(true)
}
