package fakezk

import (
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/memnet"
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Start returns a server that is closed when the test ends. Inside a
// testing/synctest bubble, call it inside the bubble.
func Start(t TB, opts ...Options) *Server {
	t.Helper()
	var o Options
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		t.Fatalf("fakezk.Start: at most one Options, got %d", len(opts))
	}
	s := New(o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Fatalf("fakezk: close: %v", err)
		}
	})
	return s
}

// DefaultSessionTimeout is the session timeout that Connect requests.
const DefaultSessionTimeout = 10 * time.Second

// Connect returns a genuine go-zookeeper connection to the server, in memory, that already has a
// session and is closed when the test ends. If there is no session within a minute, the test fails.
// The client's log is discarded. For other settings use Dialer with zk.Connect.
func (s *Server) Connect(t TB) *zk.Conn {
	t.Helper()
	connected := make(chan struct{})
	var once sync.Once
	conn, _, err := zk.Connect([]string{Address}, DefaultSessionTimeout,
		zk.WithDialer(s.Dialer()),
		zk.WithHostProvider(&hostProvider{}),
		zk.WithLogger(noLogger{}),
		zk.WithEventCallback(func(ev zk.Event) {
			if ev.State == zk.StateHasSession {
				once.Do(func() { close(connected) })
			}
		}))
	if err != nil {
		t.Fatalf("fakezk: connect: %v", err)
	}
	t.Cleanup(conn.Close)
	timer := time.NewTimer(connectPatience)
	defer timer.Stop()
	select {
	case <-connected:
	case <-timer.C:
		t.Fatalf("fakezk: no session after %s; is the server stopped?", connectPatience)
	}
	return conn
}

// connectPatience is long, for machines that are slow or busy.
const connectPatience = time.Minute

// Address is the server address to give to zk.Connect together with Dialer. It
// is a literal, so that no name is ever looked up.
const Address = "127.0.0.1:2181"

// Dialer connects to the server in memory, whatever the address:
//
//	servers := []string{fakezk.Address}
//	conn, events, err := zk.Connect(servers, 10*time.Second, zk.WithDialer(server.Dialer()))
//
// The client's default host provider pauses one second before it reconnects to
// the only server of its list, as it does with a real one.
func (s *Server) Dialer() zk.Dialer {
	return func(_, _ string, _ time.Duration) (net.Conn, error) { return s.dial() }
}

func (s *Server) dial() (net.Conn, error) {
	var l *serverLink
	conn := memnet.New(
		func(p []byte) { s.receive(l, p) },
		func() { s.gone(l, false) },
	)
	var err error
	if l, err = s.open(memory, &memorySink{conn: conn, mu: &s.mu}); err != nil {
		return nil, err
	}
	return conn, nil
}

// hostProvider offers one address. It lets the client pause (and fail unsent requests) only after a
// failed dial, not before every reconnect.
type hostProvider struct {
	mu     sync.Mutex
	server string
	failed bool // no connection since the last Next
}

func (h *hostProvider) Init(servers []string) error {
	h.server = servers[0]
	return nil
}

func (h *hostProvider) Len() int { return 1 }

func (h *hostProvider) Next() (server string, retryStart bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	retryStart, h.failed = h.failed, true
	return h.server, retryStart
}

func (h *hostProvider) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = false
}

// noLogger is a zk.Logger that writes nothing.
type noLogger struct{}

func (noLogger) Printf(string, ...any) {}
