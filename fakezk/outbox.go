package fakezk

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

// outbox is the sink of a TCP connection. Deliver only queues bytes. The connection's goroutine
// writes them after it has handled all requests that it has read, as far as possible without
// waiting. A second goroutine, which lives until the queue is empty, writes the rest. Neither holds
// a lock, so a client that does not read blocks no other client.
//
// The queue is bounded. While Full, with more than max bytes, the connection's requests are not
// handled and TCP stops the client; if that lasts, its session expires. Watch notifications that
// others cause cannot wait: when they grow the queue beyond twice max, the connection is dropped.
//
// A real server has neither bound: NIOServerCnxn.outgoingBuffers grows until
// the client reads, its session expires or the heap is full. Only requests not
// yet processed are limited, by globalOutstandingLimit.
type outbox struct {
	socket *socket
	max    int
	room   chan struct{} // capacity 1: the writer is done with something, or the connection over

	mu          sync.Mutex
	first, last *chunk // the queue, nil if empty
	unread      int    // bytes queued or being written
	burst       int    // bytes queued since hold
	busy        bool   // a goroutine writes until the queue is empty
	held        bool   // the connection's goroutine is about to flush
	ending      bool   // nothing more will be queued
	reset       bool   // and the connection ends with a reset
	broken      bool   // nothing more can be written, and something may be missing
}

// chunk is a piece of the queue.
type chunk struct {
	b    []byte
	next *chunk
}

// chunkBytes bounds a chunk, because the progress of a waiting write cannot be seen.
const chunkBytes = 256 << 10

var chunks = sync.Pool{New: func() any { return &chunk{b: make([]byte, 0, 4<<10)} }}

// recycle keeps a chunk for others, unless it has grown large.
func (c *chunk) recycle() {
	if cap(c.b) <= 64<<10 {
		c.b = c.b[:0]
		chunks.Put(c)
	}
}

func newOutbox(s *socket, max int) *outbox {
	return &outbox{socket: s, max: max, room: make(chan struct{}, 1)}
}

// Deliver queues a copy of p.
func (o *outbox) Deliver(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ending || o.broken {
		return
	}
	o.enqueue(p)
	if o.held {
		return
	}
	if o.unread > 2*o.max {
		o.abandon()
		return
	}
	if !o.busy {
		o.busy = true
		go o.write(o.take(), 0)
	}
}

func (o *outbox) enqueue(p []byte) {
	o.unread += len(p)
	o.burst += len(p)
	for len(p) > 0 {
		if o.last == nil || len(o.last.b) >= chunkBytes {
			o.grow()
		}
		n := min(len(p), chunkBytes-len(o.last.b))
		o.last.b = append(o.last.b, p[:n]...)
		p = p[n:]
	}
}

func (o *outbox) grow() {
	c := chunks.Get().(*chunk)
	if o.last == nil {
		o.first = c
	} else {
		o.last.next = c
	}
	o.last = c
}

// Fail says that nothing follows: the connection is closed once the queue is
// written. If the client does not read it, and when err is ECONNRESET, the
// connection is reset instead, so that the client can tell.
func (o *outbox) Fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reset = o.reset || errors.Is(err, syscall.ECONNRESET)
	o.end()
}

// flushGrace limits the time without progress in writing the rest of the queue to a client that
// does not read.
const flushGrace = time.Second

func (o *outbox) end() {
	if !o.ending {
		o.ending = true
		o.socket.interrupt(time.Now().Add(flushGrace))
		o.signal()
	}
}

// abandon gives the connection up with all that is queued.
func (o *outbox) abandon() {
	o.broken, o.first, o.last, o.unread = true, nil, nil, 0
	o.socket.interrupt(time.Now())
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.room <- struct{}{}:
	default:
	}
}

// burstBytes is the output that the connection's goroutine collects before it writes some of it,
// and lets other goroutines use the server.
const burstBytes = 1 << 20

// Full says that the client gets no further answers until it has read, or until the queue is
// written.
func (o *outbox) Full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.full() || o.burst > burstBytes
}

func (o *outbox) full() bool { return o.unread > o.max || o.broken }

func (o *outbox) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ending || o.broken
}

// hold keeps later chunks for flush. The connection's own goroutine calls both.
func (o *outbox) hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held, o.burst = true, 0
}

// flush writes the queue. It does not wait for the client.
func (o *outbox) flush() {
	o.mu.Lock()
	o.held = false
	if o.busy || o.first == nil {
		o.mu.Unlock()
		return
	}
	o.busy = true
	c := o.take()
	o.mu.Unlock()
	for c != nil {
		n, err := o.socket.tryWrite(c.b)
		if err == nil && n < len(c.b) {
			go o.write(c, n)
			return
		}
		c = o.next(c, err)
	}
}

// write writes the rest of c, after the bytes already written, and then the queue until it is
// empty.
func (o *outbox) write(c *chunk, written int) {
	for c != nil {
		err := o.socket.write(c.b[written:])
		c, written = o.next(c, err), 0
	}
}

// take takes the first chunk off the queue for a writer. The lock is held.
func (o *outbox) take() *chunk {
	c := o.first
	o.first, c.next = c.next, nil
	if o.first == nil {
		o.last = nil
	}
	return c
}

// next notes that a chunk is written and returns the next one, nil if there is none.
func (o *outbox) next(written *chunk, err error) *chunk {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.broken:
	case err != nil:
		o.abandon()
	default:
		o.unread -= len(written.b)
		if o.ending {
			o.socket.interrupt(time.Now().Add(flushGrace))
		}
	}
	written.recycle()
	o.signal()
	if o.first != nil {
		return o.take()
	}
	o.busy = false
	return nil
}

// awaitRoom waits until the client has read enough for its next requests to be handled. It reports
// false if the connection is over.
func (o *outbox) awaitRoom() bool {
	for {
		o.mu.Lock()
		full, over := o.full(), o.ending || o.broken
		o.mu.Unlock()
		if over || !full {
			return !over
		}
		<-o.room
	}
}

// awaitEnd waits until nothing more will be queued.
func (o *outbox) awaitEnd() {
	for !o.over() {
		<-o.room
	}
}

// finish waits until the last is written or given up, and closes the connection.
func (o *outbox) finish() {
	o.mu.Lock()
	o.end()
	for o.busy {
		o.mu.Unlock()
		<-o.room
		o.mu.Lock()
	}
	reset, broken := o.reset, o.broken
	o.mu.Unlock()
	if reset || broken {
		o.socket.reset()
		return
	}
	o.socket.close()
}
