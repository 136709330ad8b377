// Package memnet is the client's end of an in-memory connection: a net.Conn with two
// callbacks in place of a network.
//
// A write never blocks: it passes the bytes to a callback and returns. A read blocks on a channel
// and honours deadlines, so a reader inside a testing/synctest bubble is durably blocked and
// virtual time can pass. No mutex is held while anything blocks, and none during a callback.
package memnet

import (
	"bytes"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// Conn is the client's end. Use New.
type Conn struct {
	onWrite func([]byte)
	onClose func()

	readable chan struct{} // capacity 1; has an element after a change for readers
	timer    *time.Timer   // of the blocked reader; Renew moves it, with the lock

	mu            sync.Mutex
	in            []chunk       // delivered and not yet read
	late          time.Duration // of the bytes that were read last
	read          int           // bytes
	inErr         error         // the error of a Read once in is empty
	closed        bool
	readDeadline  time.Time
	patience      time.Duration // how far ahead of its setting the read deadline was
	writeDeadline time.Time
	timerBusy     bool
	waiting       int // readers blocked in await
}

// A chunk is bytes that were delivered together.
type chunk struct {
	bytes []byte
	late  time.Duration // by which they came later than they should have
}

// New returns a connected Conn. Each Write calls onWrite with its bytes, which onWrite
// must not keep; the first Close calls onClose. Both run in the goroutine of the caller.
func New(onWrite func([]byte), onClose func()) *Conn {
	return &Conn{onWrite: onWrite, onClose: onClose, readable: make(chan struct{}, 1)}
}

// Deliver appends bytes for the reader. After Close or Fail it does nothing.
func (c *Conn) Deliver(p []byte) { c.HandOver(bytes.Clone(p), 0) }

// HandOver is like Deliver, but takes over the bytes: the caller must not use them any more. They
// may come late: a read deadline that the reader sets after it has read them counts from when they
// should have come.
func (c *Conn) HandOver(p []byte, late time.Duration) {
	c.mu.Lock()
	if c.closed || c.inErr != nil {
		c.mu.Unlock()
		return
	}
	if len(p) > 0 {
		c.in = append(c.in, chunk{p, late})
	}
	c.mu.Unlock()
	c.wake()
}

// Renew stands for bytes that a blocked reader would only take as a sign of life: it would set its
// read deadline anew, as far ahead as before, and block again. The deadline moves and the reader
// sleeps on. If no reader is blocked with a deadline, Renew does nothing, and ok is false.
func (c *Conn) Renew(length int, late time.Duration) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting != 1 || !c.timerBusy || c.closed || c.inErr != nil || len(c.in) > 0 ||
		!time.Now().Before(c.readDeadline) {
		return false
	}
	c.read += length
	c.readDeadline = time.Now().Add(c.patience - late)
	c.timer.Reset(c.patience - late)
	return true
}

// Fail ends the connection from the far side: a reader gets err after the bytes already
// delivered, and later writes fail. io.EOF is an orderly close, after which writes fail
// with io.ErrClosedPipe; after any other error they fail with err.
func (c *Conn) Fail(err error) {
	c.mu.Lock()
	if c.inErr == nil {
		c.inErr = err
	}
	c.mu.Unlock()
	c.wake()
}

func (c *Conn) wake() {
	select {
	case c.readable <- struct{}{}:
	default:
	}
}

// Read blocks until there are bytes or an error, or until the read deadline.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, deadline, err := c.tryRead(p)
		if n > 0 || err != nil {
			return n, err
		}
		c.await(deadline)
	}
}

// tryRead reads without blocking. If there are neither bytes nor an error, it counts the
// caller as waiting, and the caller must await a change until the returned deadline.
func (c *Conn) tryRead(p []byte) (n int, deadline time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		// One wake-up may stand for several changes: pass it on.
		if (n > 0 || err != nil) && c.waiting > 0 {
			c.wake()
		}
	}()
	switch {
	case c.closed:
		return 0, time.Time{}, net.ErrClosed
	case !c.readDeadline.IsZero() && !time.Now().Before(c.readDeadline):
		return 0, time.Time{}, os.ErrDeadlineExceeded
	case len(c.in) > 0:
		return c.take(p), time.Time{}, nil
	}
	if c.inErr != nil {
		return 0, time.Time{}, c.inErr
	}
	c.waiting++
	return 0, c.readDeadline, nil
}

// take moves bytes of one chunk into p, so that all of them came at the same time.
func (c *Conn) take(p []byte) (n int) {
	first := &c.in[0]
	n = copy(p, first.bytes)
	first.bytes, c.late = first.bytes[n:], first.late
	c.read += n
	if len(first.bytes) == 0 {
		c.in = slices.Delete(c.in, 0, 1)
	}
	return n
}

// await blocks until a change or the deadline.
func (c *Conn) await(deadline time.Time) {
	if deadline.IsZero() {
		<-c.readable
		c.endAwait(nil)
		return
	}
	timer := c.takeTimer(time.Until(deadline))
	select {
	case <-c.readable:
	case <-timer.C:
	}
	timer.Stop()
	c.endAwait(timer)
}

// takeTimer returns the connection's timer, or a new one for a second concurrent reader.
func (c *Conn) takeTimer(d time.Duration) *time.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timerBusy {
		return time.NewTimer(d)
	}
	c.timerBusy = true
	if c.timer == nil {
		c.timer = time.NewTimer(d)
	} else {
		c.timer.Reset(d)
	}
	return c.timer
}

// endAwait ends an await and gives its timer back.
func (c *Conn) endAwait(t *time.Timer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
	if t != nil && t == c.timer {
		c.timerBusy = false
	}
}

// Write passes p to the far side and returns at once.
func (c *Conn) Write(p []byte) (int, error) {
	if err := c.writeError(); err != nil {
		return 0, err
	}
	c.onWrite(p)
	return len(p), nil
}

func (c *Conn) writeError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case c.inErr == io.EOF:
		return io.ErrClosedPipe
	case c.inErr != nil:
		return c.inErr
	case !c.writeDeadline.IsZero() && !time.Now().Before(c.writeDeadline):
		return os.ErrDeadlineExceeded
	}
	return nil
}

// Close ends the connection from this side. Later calls do nothing.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.in = nil
	c.mu.Unlock()
	c.wake()
	c.onClose()
	return nil
}

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetWriteDeadline(t)
	return c.SetReadDeadline(t)
}

// SetReadDeadline makes every Read fail at t with os.ErrDeadlineExceeded, even one that
// is already blocked. The zero time means never.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	if !t.IsZero() {
		c.patience = time.Until(t)
		t = t.Add(-c.late)
	}
	c.readDeadline = t
	blocked := c.waiting > 0
	c.mu.Unlock()
	if blocked {
		c.wake()
	}
	return nil
}

// ReadDeadline is the time at which every Read fails, zero if there is none.
func (c *Conn) ReadDeadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readDeadline
}

// BytesRead is the number of bytes that have been read.
func (c *Conn) BytesRead() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read
}

// SetWriteDeadline makes a Write that begins at t or later fail.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.writeDeadline = t
	c.mu.Unlock()
	return nil
}

// LocalAddr and RemoteAddr name the two ends of the in-memory network.
func (c *Conn) LocalAddr() net.Addr  { return addr("client") }
func (c *Conn) RemoteAddr() net.Addr { return addr("fakezk") }

type addr string

func (addr) Network() string  { return "memory" }
func (a addr) String() string { return string(a) }
