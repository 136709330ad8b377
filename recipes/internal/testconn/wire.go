package testconn

import (
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
)

// wire is what a client dials.
type wire struct {
	s *Server

	mu     sync.Mutex
	conn   net.Conn
	gate   chan struct{} // dials wait for it; nil: they need not
	closed bool          // for good
}

// dial connects as soon as the gate is open.
func (w *wire) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	for {
		if gate := w.closedGate(); gate != nil {
			<-gate
		}
		if w.isClosed() {
			return nil, zk.ErrClosing
		}
		conn, err := w.s.Dialer()(network, address, timeout)
		if err != nil {
			return nil, err
		}
		if w.connected(conn) {
			return conn, nil
		}
		if err := conn.Close(); err != nil {
			return nil, err
		}
	}
}

// connected makes conn the connection, unless the gate was closed meanwhile.
func (w *wire) connected(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gate != nil {
		return false
	}
	w.conn = conn
	return true
}

// closedGate returns the channel that dials wait for, nil if they need not wait.
func (w *wire) closedGate() chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gate
}

// hosts offers one server. After Close, Next reports the end of a round, so that the client checks
// whether it was closed.
type hosts struct{ w *wire }

func (hosts) Init([]string) error    { return nil }
func (hosts) Len() int               { return 1 }
func (hosts) Connected()             {}
func (h hosts) Next() (string, bool) { return fakezk.Address, h.w.isClosed() }

func (w *wire) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// cut cuts the connection, and lets dials wait until open is called.
func (w *wire) cut() error {
	w.mu.Lock()
	w.gate = make(chan struct{})
	conn := w.conn
	w.mu.Unlock()
	return conn.Close()
}

// open opens the gate, if it is closed.
func (w *wire) open(forGood bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = w.closed || forGood
	if w.gate != nil {
		close(w.gate)
		w.gate = nil
	}
}

// Silence is a logger of the client that says nothing.
type Silence struct{}

// Printf does nothing.
func (Silence) Printf(string, ...any) {}
