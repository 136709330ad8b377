package fakezk

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Serve accepts TCP connections from l until the listener or the server is
// closed. The server closes l when it is closed itself. Any ZooKeeper client,
// in any language, can connect.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrStopped
	}
	s.listeners[l] = true
	s.serving.Add(1)
	s.mu.Unlock()
	defer s.serving.Done()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("fakezk: accept: %w", err)
		}
		s.serving.Add(1)
		go s.serveTCP(conn)
	}
}

// serveTCP reads one connection until it ends.
func (s *Server) serveTCP(conn net.Conn) {
	defer s.serving.Done()
	out := newTCPSink(conn)
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		host = "127.0.0.1"
	}
	link, err := s.open(host, out)
	if err != nil {
		out.Fail(err)
		<-out.done
		return
	}
	buf := make([]byte, 16<<10)
	for {
		n, err := conn.Read(buf)
		if n > 0 {
			s.receive(link, buf[:n])
		}
		if err != nil {
			break
		}
	}
	s.gone(link)
	out.Fail(nil)
	<-out.done
}

// tcpSink queues what the server sends and writes it in a goroutine of its own,
// so that a client that does not read holds up nobody else.
type tcpSink struct {
	conn  net.Conn
	ready chan struct{}
	done  chan struct{}

	mu     sync.Mutex
	queue  []byte
	ending bool
}

func newTCPSink(conn net.Conn) *tcpSink {
	k := &tcpSink{conn: conn, ready: make(chan struct{}, 1), done: make(chan struct{})}
	go k.write()
	return k
}

// Deliver queues a copy of p.
func (k *tcpSink) Deliver(p []byte) {
	k.mu.Lock()
	k.queue = append(k.queue, p...)
	k.mu.Unlock()
	k.wake()
}

// Fail closes the connection once the queue is written, or soon after if the
// client does not read it.
func (k *tcpSink) Fail(error) {
	k.mu.Lock()
	k.ending = true
	k.mu.Unlock()
	// An error means that the connection is closed already.
	_ = k.conn.SetWriteDeadline(time.Now().Add(lastWords))
	k.wake()
}

// lastWords is how long a client has to take what is left for it.
const lastWords = time.Second

func (k *tcpSink) wake() {
	select {
	case k.ready <- struct{}{}:
	default:
	}
}

func (k *tcpSink) write() {
	defer close(k.done)
	defer func() { _ = k.conn.Close() }() // nobody is left to hear of it
	for range k.ready {
		k.mu.Lock()
		p, ending := k.queue, k.ending
		k.queue = nil
		k.mu.Unlock()
		if len(p) > 0 {
			if _, err := k.conn.Write(p); err != nil {
				return
			}
		}
		if ending {
			return
		}
	}
}
