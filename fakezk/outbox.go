package fakezk

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

// outbox is the sink of a TCP connection. Whoever causes something to be sent
// only queues it. It is written by the connection's own goroutine once it has
// handled all it has read, as far as that goes without waiting, else by a
// goroutine that lives until the queue is empty. No lock is held meanwhile, so a
// client that does not read holds up nobody else.
//
// What the queue may hold is bounded. The connection's own replies are: while
// Full, its requests are not handled, TCP stops the client, and if that lasts
// its session expires. What others cause, watch notifications, cannot wait: a
// connection with more of it than max bytes is dropped.
//
// A real server has neither bound: NIOServerCnxn.outgoingBuffers grows until
// the client reads, its session expires or the heap is full. Only requests not
// yet processed are limited, by globalOutstandingLimit.
type outbox struct {
	socket *socket
	max    int
	room   chan struct{} // capacity 1: the writer is done with something, or the connection over

	mu      sync.Mutex
	queue   *chunk // nil if empty
	writing int    // bytes being written
	foreign int    // bytes in queue that others caused
	busy    bool   // somebody writes, and will take what is queued meanwhile
	held    bool   // the connection's goroutine is about to flush
	ending  bool   // nothing more will be queued
	reset   bool   // and the connection ends with a reset
	broken  bool   // nothing more can be written
}

// chunk is a buffer of what is to be written.
type chunk struct{ b []byte }

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
	if o.queue == nil {
		o.queue = chunks.Get().(*chunk)
	}
	o.queue.b = append(o.queue.b, p...)
	if o.held {
		return
	}
	if o.foreign += len(p); o.foreign > o.max {
		o.abandon()
		return
	}
	if !o.busy {
		o.busy = true
		go o.write(o.take(), 0)
	}
}

// Fail says that nothing follows: the connection is closed once the queue is
// written, or soon after if the client does not read it. ECONNRESET resets it
// instead.
func (o *outbox) Fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reset = o.reset || errors.Is(err, syscall.ECONNRESET)
	o.end()
}

// lastWords is how long a client has to take what is left for it.
const lastWords = time.Second

func (o *outbox) end() {
	if !o.ending {
		o.ending = true
		o.socket.interrupt(time.Now().Add(lastWords))
		o.signal()
	}
}

// abandon gives the connection up with all that is queued.
func (o *outbox) abandon() {
	o.broken, o.queue, o.foreign = true, nil, 0
	o.socket.interrupt(time.Now())
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.room <- struct{}{}:
	default:
	}
}

// Full says that the client should read before it gets further answers.
func (o *outbox) Full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.full()
}

func (o *outbox) full() bool {
	n := o.writing
	if o.queue != nil {
		n += len(o.queue.b)
	}
	return n > o.max/16 || o.broken
}

func (o *outbox) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ending || o.broken
}

// hold keeps what is queued from now on for flush. The connection's own
// goroutine calls both.
func (o *outbox) hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = true
}

// flush writes what is queued. It does not wait for the client.
func (o *outbox) flush() {
	o.mu.Lock()
	o.held = false
	if o.busy || o.queue == nil {
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

// write writes c, of which the first bytes are written already, and then what
// is queued, until nothing is.
func (o *outbox) write(c *chunk, written int) {
	for c != nil {
		err := o.socket.write(c.b[written:])
		c, written = o.next(c, err), 0
	}
}

// take empties the queue for a writer. The lock is held.
func (o *outbox) take() *chunk {
	c := o.queue
	o.queue, o.foreign = nil, 0
	o.writing = len(c.b)
	return c
}

// next notes that a chunk is written and returns the next one, nil if there is
// none.
func (o *outbox) next(written *chunk, err error) *chunk {
	written.recycle()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = 0
	if err != nil && !o.broken {
		o.abandon()
	}
	o.signal()
	if o.queue != nil {
		return o.take()
	}
	o.busy = false
	return nil
}

// awaitRoom waits until the client has read so much that its next requests may
// be handled. It reports false if the connection is over.
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
	switch {
	case reset:
		o.socket.reset()
	case broken:
		o.socket.drop()
	default:
		o.socket.close()
	}
}
