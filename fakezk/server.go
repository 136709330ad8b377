package fakezk

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// ErrStopped is the error of dialing a stopped Server.
var ErrStopped = errors.New("fakezk: server is stopped")

// Server is an in-memory ZooKeeper, or an ensemble of several servers, that runs in real time, or
// in the virtual time of the testing/synctest bubble in which it was made. Its methods may be
// called from any goroutine. Use Start in tests and New elsewhere.
type Server struct {
	opts   Options
	bubble string // of the caller of New

	mu        sync.Mutex
	stopping  atomic.Int32 // calls of Stop and Close that wait for mu: long work ends early
	engine    *engine.Engine
	links     map[engine.ConnID]*link
	clients   map[origin]int // open TCP connections
	words     wordState
	nextConn  engine.ConnID
	timer     *time.Timer
	timerAt   time.Time
	names     *sessionNames
	recorder  *recorder
	inject    *injector // nil from ClearFaults until something is injected again
	cleared   int       // the faults that were armed before the last ClearFaults
	ensemble  ensemble
	closed    bool // for good
	closing   chan struct{}
	listeners map[net.Listener]bool
	serving   sync.WaitGroup
}

// New returns a running server. Close it when done.
func New(opts Options) *Server {
	opts = opts.withDefaults()
	now := time.Now()
	s := &Server{
		opts:      opts,
		bubble:    bubbleNumber(),
		words:     wordState{started: now, traceMask: fourletter.DefaultTraceMask},
		links:     map[engine.ConnID]*link{},
		clients:   map[origin]int{},
		ensemble:  ensemble{stopped: make([]bool, opts.Servers)},
		closing:   make(chan struct{}),
		listeners: map[net.Listener]bool{},
		names:     newSessionNames(),
	}
	s.recorder = newRecorder(opts, now, s.names)
	cfg := opts.engineConfig()
	cfg.Observe = s.words.count
	cfg.Interrupted = s.interrupted
	s.engine = engine.New(cfg, now)
	if opts.Servers > 1 {
		s.elect(0)
	}
	return s
}

// Close stops the server for good. It accepts no more connections, closes every connection after
// its queue is written (a client that does not read gets a second for that), and waits for the
// goroutines that served TCP and for the log.
func (s *Server) Close() error {
	s.lockAndInterrupt()
	for l := range s.listeners {
		_ = l.Close() // an accept loop that ends is all we want of it
	}
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.stop(s.all())
	if s.inject != nil {
		s.inject.end()
	}
	s.mu.Unlock()
	s.serving.Wait()
	s.mu.Lock()
	s.recorder.log.end()
	s.mu.Unlock()
	s.recorder.log.wait()
	return nil
}

// lockAndInterrupt locks the server. A Load under way ends early.
func (s *Server) lockAndInterrupt() {
	s.stopping.Add(1)
	s.mu.Lock()
	s.stopping.Add(-1)
}

// interrupted reports whether a call of Stop or Close waits for the lock.
func (s *Server) interrupted() bool { return s.stopping.Load() > 0 }

// open adds a connection to a server.
func (s *Server) open(server int, from peer, k sink) (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.ensemble.halted() || s.ensemble.stopped[server] {
		return nil, ErrStopped
	}
	if time.Now().Before(s.ensemble.servesAt) {
		return nil, syscall.ECONNREFUSED
	}
	if s.inject != nil {
		refused, actions := s.inject.net.Refuses(0, server, s.inject.now())
		s.inject.carryOut(actions)
		if refused {
			return nil, syscall.ECONNREFUSED
		}
	}
	if err := s.admit(origin{server, from.ip}, from); err != nil {
		s.recorder.refusedConn(from, err)
		return nil, err
	}
	s.nextConn++
	l := &link{
		id: s.nextConn, server: server, peer: from, frames: wire.Splitter{Max: s.opts.MaxFrame},
		sink: k,
	}
	s.links[l.id] = l
	s.engine.Open(l.id, server, from.ip, time.Now())
	if s.inject != nil {
		s.inject.open(l)
	}
	s.schedule()
	return l, nil
}

// receive takes bytes that a client sent. Garbage ends the connection. If the link is full, it
// returns the bytes that it has not handled; the caller offers them again later.
func (s *Server) receive(l *link, p []byte) (rest []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.schedule()
	if k, ok := l.sink.(*memorySink); ok {
		k.noteInput(p)
	}
	now := time.Now()
	for s.links[l.id] != nil {
		if l.conn != nil && l.conn.Ignores() || !l.wordChecked && s.checkWord(l, p) {
			return nil
		}
		frame, rest, err := l.frames.Next(p)
		if err != nil {
			s.recorder.garbage(l, err.Error())
		}
		if err != nil && s.inject != nil {
			s.inject.takeGarbage(l)
		} else if err != nil {
			s.hangUp(l)
		}
		if frame == nil {
			return nil
		}
		s.handle(l, frame, now)
		p = rest
		if l.sink.Full() {
			return p
		}
	}
	return nil
}

// handle takes one frame of a link. The lock is held.
func (s *Server) handle(l *link, frame []byte, now time.Time) {
	if s.inject == nil || !s.inject.takeFrame(l, frame) {
		s.process(l, frame, now, nil)
	}
}

// process lets the engine handle a frame. A fault, if given, damages the output on the same
// connection. The lock is held.
func (s *Server) process(l *link, frame []byte, now time.Time, damage *carry.Armed) {
	r := s.engine.Handle(l.id, frame, now)
	s.recorder.request(l, &r.Request)
	s.noteApplied(r.Applied)
	if r.Request.Handshake {
		s.expectWatches(l, &r)
	}
	for _, out := range r.Out {
		if to := s.links[out.Conn]; to == l {
			s.emit(l, out, damage)
		} else if to != nil {
			s.emit(to, out, nil)
		}
	}
	if r.Request.Handshake && r.Request.Session != 0 {
		l.session = r.Request.Session
		l.name, l.number = s.names.connect(l.session, l.peer.client, l.sink)
		l.setSession()
	}
	if r.Request.Handshake {
		s.recorder.handshake(l, frame, s.engine.Store())
	}
	s.follow()
}

// gone notes that a client closed its end. A client that is half gone may still read. The result
// reports whether the client is half gone and a fault has put off the end of the connection.
func (s *Server) gone(l *link, half bool) (onHold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inject != nil && l.conn != nil {
		return s.inject.takeGone(l, half) && half
	}
	s.drop(l)
	return false
}

// hangUp closes a connection, whatever is on hold.
func (s *Server) hangUp(l *link) {
	if s.inject != nil {
		s.inject.carryOut(l.conn.Reset(io.EOF))
		return
	}
	s.drop(l)
	l.sink.Fail(io.EOF)
}

// drop forgets a connection, if it is known.
func (s *Server) drop(l *link) {
	s.engine.Drop(l.id)
	s.unlink(l)
}

// unlink forgets a link, so that another of the same address is admitted.
func (s *Server) unlink(l *link) {
	if s.links[l.id] != nil {
		delete(s.links, l.id)
		s.dismiss(origin{l.server, l.peer.ip}, l.peer)
		s.recorder.lost(l)
	}
}

// noteApplied notes the sessions that began and ended.
func (s *Server) noteApplied(applied []engine.Applied) {
	s.recorder.applied(applied)
	s.names.note(applied)
}

// deliver carries out a reaction of the engine.
func (s *Server) deliver(r engine.Reaction) {
	s.noteApplied(r.Applied)
	for _, out := range r.Out {
		if l := s.links[out.Conn]; l != nil {
			s.emit(l, out, nil)
		}
	}
	s.follow()
}

// emit sends one output on its link, with the damage that a fault does to it. The lock is held.
func (s *Server) emit(l *link, out engine.Output, damage *carry.Armed) {
	if out.Event != nil {
		if k, ok := l.sink.(*memorySink); ok {
			k.events++
		}
		s.recorder.notification(l, out.Event)
	}
	if s.inject != nil && s.inject.takeOutput(l, out, damage) {
		return
	}
	if out.Frame != nil {
		l.sink.Deliver(out.Frame)
	}
	if out.Close {
		s.unlink(l)
		l.sink.Fail(io.EOF)
	}
}

// schedule sets the timer so that it fires no later than at the engine's next deadline. Requests
// put deadlines off, and the timer is not moved for that: it fires early, finds nothing to do and
// is set again.
func (s *Server) schedule() {
	next := s.engine.NextDeadline()
	if s.lacksQuorum() || next.IsZero() || !s.timerAt.IsZero() && !next.Before(s.timerAt) {
		return
	}
	s.timerAt = next
	if s.timer == nil {
		s.timer = time.AfterFunc(time.Until(next), s.tick)
		return
	}
	s.timer.Reset(time.Until(next))
}

// lacksQuorum reports whether there is no leader with a majority.
func (s *Server) lacksQuorum() bool {
	return s.ensemble.halted() || s.isAlone(s.engine.Leader())
}

func (s *Server) unschedule() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timerAt = time.Time{}
}

func (s *Server) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timerAt = time.Time{}
	if s.lacksQuorum() {
		return
	}
	s.deliver(s.engine.Tick(time.Now()))
	s.schedule()
}
