package fakezk

import (
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
)

// front lets clients in, in memory and over TCP. Its methods are called without the lock, but for
// close: they take it as long as they use other parts.
type front struct {
	opts     Options
	bubble   string // in which the server runs, or ""
	mu       *sync.Mutex
	engine   *engine.Engine
	links    *links
	words    *words
	pipeline *pipeline
	faults   *injector
	ensemble *ensemble
	expiry   *expiry

	closed    bool // for good
	closing   chan struct{}
	listeners map[net.Listener]bool
	serving   sync.WaitGroup
}

func newFront(s *Server) *front {
	return &front{
		opts: s.opts, bubble: s.bubble, mu: &s.mu, engine: s.engine, links: s.links, words: s.words,
		pipeline: s.pipeline, faults: s.faults, ensemble: s.ensemble, expiry: s.expiry,
		closing: make(chan struct{}), listeners: map[net.Listener]bool{},
	}
}

// close ends the accept loops. The lock is held.
func (f *front) close() {
	for l := range f.listeners {
		_ = l.Close() // an accept loop that ends is all we want of it
	}
	if !f.closed {
		f.closed = true
		close(f.closing)
	}
}

// open adds a connection to a server.
func (f *front) open(server int, from peer, k sink) (*link, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ensemble.refuses(server); err != nil {
		return nil, err
	}
	if f.faults.refuses(server) {
		return nil, syscall.ECONNREFUSED
	}
	l, err := f.links.open(server, from, k)
	if err != nil {
		return nil, err
	}
	f.engine.Open(l.id, server, from.ip, time.Now())
	f.faults.open(l)
	f.expiry.schedule()
	return l, nil
}

// receive takes bytes that a client sent, and returns those that it has not handled.
func (f *front) receive(l *link, p []byte) (rest []byte) {
	f.mu.Lock()
	rest, word := f.pipeline.receive(l, p)
	f.expiry.schedule()
	f.mu.Unlock()
	if word != nil {
		f.pipeline.answerWord(l, word)
	}
	return rest
}

// gone notes that a client closed its end, and reports whether a fault has put off the end of the
// connection.
func (f *front) gone(l *link, half bool) (onHold bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.expiry.schedule() // of what the connection leaves
	return f.pipeline.gone(l, half)
}

// dial connects a client in memory that has dialed a host to a server. The client's name is "" if
// it has none.
func (f *front) dial(name, host string, server int) (net.Conn, error) {
	if err := checkBubble(f.bubble); err != nil {
		return nil, err
	}
	var l *link
	conn := tlsend.New(host,
		func(p []byte) { f.receive(l, p) },
		func() { f.gone(l, false) },
	)
	var err error
	from := memory
	from.client = name
	if l, err = f.open(server, from, newMemorySink(conn, f.mu)); err != nil {
		return nil, err
	}
	return conn, nil
}
