package fakezk

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// Options are the settings of a Server. The zero value is a server with a tick
// of two seconds, as ZooKeeper's sample configuration has it.
type Options struct {
	// TickTime is the unit of time of session expiry, at least a millisecond; 0
	// means 2 s. Sessions end at the end of a tick, so up to one tick late and
	// never early.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound what a client may ask for;
	// 0 means 2 and 20 ticks. A maximum below the minimum counts as the minimum.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// MaxFrame is jute.maxbuffer, the length in bytes of the longest request;
	// 0 means 1048575.
	MaxFrame int
}

func (o Options) withDefaults() Options {
	if o.TickTime <= 0 {
		o.TickTime = 2 * time.Second
	}
	o.TickTime = max(o.TickTime, time.Millisecond)
	if o.MinSessionTimeout <= 0 {
		o.MinSessionTimeout = 2 * o.TickTime
	}
	if o.MaxSessionTimeout <= 0 {
		o.MaxSessionTimeout = 20 * o.TickTime
	}
	o.MaxSessionTimeout = max(o.MaxSessionTimeout, o.MinSessionTimeout)
	if o.MaxFrame <= 0 {
		o.MaxFrame = wire.DefaultMaxFrame
	}
	return o
}

func (o Options) engineConfig() engine.Config {
	return engine.Config{
		TickTime:          o.TickTime,
		MinSessionTimeout: o.MinSessionTimeout,
		MaxSessionTimeout: o.MaxSessionTimeout,
	}
}

// ErrStopped is what dialing a stopped Server returns.
var ErrStopped = errors.New("fakezk: server is stopped")

// Server is an in-memory ZooKeeper that runs in real time, or in the virtual
// time of the testing/synctest bubble in which it was made. Its methods may be
// called from any goroutine. Use Start in tests and New elsewhere.
type Server struct {
	opts Options

	mu        sync.Mutex
	engine    *engine.Engine
	links     map[engine.ConnID]*serverLink
	nextConn  engine.ConnID
	timer     *time.Timer
	timerAt   time.Time
	stopped   bool // refuses connections until Restart
	closed    bool // for good
	listeners map[net.Listener]bool
	serving   sync.WaitGroup
}

// serverLink is the server's end of one connection.
type serverLink struct {
	id     engine.ConnID
	frames frameSplitter
	sink   sink
}

// A sink takes what the server sends on one connection. Its methods never block.
type sink interface {
	Deliver(p []byte)
	Fail(err error)
}

// New returns a running server. Close it when done.
func New(opts Options) *Server {
	opts = opts.withDefaults()
	return &Server{
		opts:      opts,
		engine:    engine.New(opts.engineConfig(), time.Now()),
		links:     map[engine.ConnID]*serverLink{},
		listeners: map[net.Listener]bool{},
	}
}

// Close stops the server for good: it closes every connection and listener and
// waits for the goroutines that served TCP.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.stopLocked()
	for l := range s.listeners {
		_ = l.Close() // an accept loop that ends is all we want of it
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.serving.Wait()
	return nil
}

// Stop makes the server unreachable: every connection is closed, dials are
// refused. Data and sessions stay, and sessions do not expire meanwhile.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
}

func (s *Server) stopLocked() {
	s.stopped = true
	s.deliver(s.engine.Restart(time.Now()))
	s.schedule()
}

// Restart makes a stopped server reachable again, with its data. Every session
// gets its full timeout from now. A running server is stopped first.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.stopLocked()
	s.stopped = false
	s.deliver(s.engine.Restart(time.Now()))
	s.schedule()
}

// open adds a connection.
func (s *Server) open(ip string, k sink) (*serverLink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.closed {
		return nil, ErrStopped
	}
	s.nextConn++
	l := &serverLink{id: s.nextConn, frames: frameSplitter{max: s.opts.MaxFrame}, sink: k}
	s.links[l.id] = l
	s.engine.Open(l.id, ip, time.Now())
	s.schedule()
	return l, nil
}

// receive takes bytes that a client sent. Garbage ends the connection.
func (s *Server) receive(l *serverLink, p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links[l.id] == nil {
		return
	}
	now := time.Now()
	err := l.frames.feed(p, func(frame []byte) {
		s.deliver(s.engine.Handle(l.id, frame, now))
	})
	if err != nil {
		s.hangUp(l)
	}
	s.schedule()
}

// gone notes that a client's end closed.
func (s *Server) gone(l *serverLink) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links[l.id] != nil {
		delete(s.links, l.id)
		s.engine.Drop(l.id)
	}
}

func (s *Server) hangUp(l *serverLink) {
	s.engine.Drop(l.id)
	delete(s.links, l.id)
	l.sink.Fail(io.EOF)
}

// deliver carries out what the engine decided.
func (s *Server) deliver(r engine.Reaction) {
	for _, out := range r.Out {
		l := s.links[out.Conn]
		if l == nil {
			continue
		}
		if out.Frame != nil {
			l.sink.Deliver(out.Frame)
		}
		if out.Close {
			delete(s.links, l.id)
			l.sink.Fail(io.EOF)
		}
	}
}

// schedule sets the timer for the engine's next deadline.
func (s *Server) schedule() {
	next := s.engine.NextDeadline()
	if s.stopped || next.IsZero() {
		if s.timer != nil {
			s.timer.Stop()
		}
		s.timerAt = time.Time{}
		return
	}
	if next.Equal(s.timerAt) {
		return
	}
	s.timerAt = next
	if s.timer == nil {
		s.timer = time.AfterFunc(time.Until(next), s.tick)
		return
	}
	s.timer.Reset(time.Until(next))
}

func (s *Server) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timerAt = time.Time{}
	if s.stopped {
		return
	}
	s.deliver(s.engine.Tick(time.Now()))
	s.schedule()
}
