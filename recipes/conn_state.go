package recipes

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// ConnState is the state of a session as far as the client knows without a request.
type ConnState int

const (
	// StateSuspended means that the connection is down, or was never up, and the session may live
	// on. Stop side effects; leases and locks may still be held.
	StateSuspended ConnState = iota
	// StateConnected means that the client has a session, and believes that its connection is up.
	StateConnected
	// StateLost means that the session is over, or may be: ephemeral nodes may be gone, and locks
	// may have other owners.
	StateLost
)

// String returns "suspended", "connected" or "lost".
func (s ConnState) String() string {
	switch s {
	case StateConnected:
		return "connected"
	case StateLost:
		return "lost"
	default:
		return "suspended"
	}
}

// ConnStatus is the result of one look of a ConnMonitor.
type ConnStatus struct {
	State ConnState
	// Epoch is 0 before the first StateConnected. It grows by 1 with the first StateConnected and
	// with each StateConnected that follows a StateLost. After a change of epoch, create or read
	// ephemeral nodes again, even if the session is the same.
	Epoch int
	// Session is the session of this epoch.
	Session int64
}

// ConnMonitor follows the state of a connection. Like Lost of a Lock, it looks at the state twenty
// times per timeout. It sends no request, and does not use the client's event channel, which drops
// events that nothing reads.
//
// It guarantees that Lost is closed before the server can have expired the session and given its
// locks to another client. It goes by the local monotonic clock, without contact with a server;
// SessionTimeout states the assumptions. It sees every change of epoch, but may miss a
// disconnection shorter than a twentieth of the timeout.
//
// When the connection is lost the state is StateSuspended. When the session may be over, or the
// client has replaced it, the state is StateLost, which ends the epoch. When the connection is up
// again the state is StateConnected. After the Conn is closed, the state becomes StateLost.
//
// It cannot guarantee that a paused process learns of the loss in time.
//
// Sources: Curator's ConnectionState and its "session timeout percent"; Apache ZooKeeper
// Programmer's Guide, "ZooKeeper Sessions".
type ConnMonitor struct {
	lifecycle
	timeout time.Duration

	mu      sync.Mutex
	status  ConnStatus
	lost    chan struct{} // closed at the end of this epoch
	readers []statusReader
}

// statusReader is a channel that Changes has returned.
type statusReader struct {
	status chan ConnStatus
	forget func() bool // cancels the AfterFunc of its context
}

// withoutTimeout takes the place of a session timeout of zero. The time between two looks is a
// twentieth of it.
const withoutTimeout = 2 * time.Second

// NewConnMonitor begins to follow conn. sessionTimeout is the timeout that the server has granted;
// when in doubt give a smaller one. With zero the session is lost only when the client has another
// one. It sends nothing. Close ends it.
func NewConnMonitor(conn Conn, sessionTimeout time.Duration) *ConnMonitor {
	m := &ConnMonitor{
		lifecycle: newLifecycle(conn, "connection monitor", "", nil),
		timeout:   sessionTimeout,
		lost:      make(chan struct{}),
	}
	close(m.lost)
	seen := m.look(request.Liveness{Timeout: sessionTimeout})
	m.tasks.BeginCleanUp()
	go func() {
		defer m.tasks.End()
		m.follow(seen)
	}()
	return m
}

// Status returns the result of the last look.
func (m *ConnMonitor) Status() ConnStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

// Lost returns a channel that is closed at the end of this epoch, when the session may be over.
// Before the first epoch and between two epochs, the channel is closed already.
func (m *ConnMonitor) Lost() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// Changes returns a channel with the present status and each later one. A slow reader may miss a
// status, but never the newest. The channel is closed when ctx is done or the monitor is closed.
func (m *ConnMonitor) Changes(ctx context.Context) <-chan ConnStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	reader := make(chan ConnStatus, 1)
	reader <- m.status
	if m.tasks.Closed() {
		close(reader)
		return reader
	}
	m.readers = append(
		m.readers, statusReader{reader, context.AfterFunc(ctx, func() { m.leave(reader) })},
	)
	return reader
}

// leave ends one reader.
func (m *ConnMonitor) leave(reader chan ConnStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := slices.IndexFunc(
		m.readers, func(r statusReader) bool { return r.status == reader },
	); at >= 0 {
		m.readers = slices.Delete(m.readers, at, at+1)
		close(reader)
	}
}

// Close ends the monitor. Lost of the epoch is closed, and so are all channels that Changes has
// returned. The error is always nil.
func (m *ConnMonitor) Close(ctx context.Context) error { return m.tasks.Close(ctx) }

// follow looks at the connection until the monitor is closed.
func (m *ConnMonitor) follow(seen request.Liveness) {
	every := m.timeout
	if every <= 0 {
		every = withoutTimeout
	}
	ticks, stop := request.LookTicker(every)
	defer stop()
	for {
		select {
		case <-m.tasks.Ctx.Done():
			m.finish()
			return
		case <-ticks:
			seen = m.look(seen)
		}
	}
}

// finish ends the epoch and closes the channels of the readers.
func (m *ConnMonitor) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endEpoch()
	for _, r := range m.readers {
		r.forget()
		close(r.status)
	}
	m.readers = nil
}

// look looks once and returns the liveness for the next look, which is new if an epoch has begun.
func (m *ConnMonitor) look(seen request.Liveness) request.Liveness {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.status.Epoch > 0 && m.status.State != StateLost {
		if state := seen.Look(m.tasks.Conn); state != request.ConnLost {
			m.become(ConnStatus{
				State: ConnState(state), Epoch: m.status.Epoch, Session: m.status.Session,
			})
			return seen
		}
		m.endEpoch()
		m.become(ConnStatus{State: StateLost, Epoch: m.status.Epoch, Session: m.status.Session})
	}
	session := m.tasks.Conn.SessionID()
	if session == 0 || m.tasks.Conn.State() != zk.StateHasSession {
		return seen
	}
	m.lost = make(chan struct{})
	m.become(ConnStatus{State: StateConnected, Epoch: m.status.Epoch + 1, Session: session})
	return request.NewLiveness(session, m.timeout)
}

// endEpoch closes lost, unless it is closed.
func (m *ConnMonitor) endEpoch() {
	select {
	case <-m.lost:
	default:
		close(m.lost)
	}
}

// become gives a new status to the readers. It replaces a status that was not read.
func (m *ConnMonitor) become(status ConnStatus) {
	if status == m.status {
		return
	}
	m.status = status
	for _, r := range m.readers {
		select {
		case <-r.status:
		default:
		}
		r.status <- status
	}
}
