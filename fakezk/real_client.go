package fakezk

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"
)

// RealClient is a RealWorld's client from the inside, as Client is a World's. Its
// methods may be called from any goroutine.
type RealClient struct {
	run  *realRun
	name string
	once sync.Once

	// Guarded by the run's mutex.
	dials            int
	session          int64       // the newest; 0 if the server refused to go on with it
	requests, events int         // counted for faults
	refuse, hang     outages     // dials fail, dials hang
	links            []*realLink // those not dead
	conns            []*zk.Conn  // every one, for the end
	done             bool        // the script has ended
}

// Name is the client's name.
func (c *RealClient) Name() string { return c.name }

// Pace is how many virtual seconds pass in one real second.
func (c *RealClient) Pace() int { return c.run.world.Pace }

// Conn is the client's connection, made at the first call. It may still be
// connecting; requests wait for it.
func (c *RealClient) Conn() *zk.Conn {
	c.once.Do(func() { c.connect() })
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	return c.conns[0]
}

func (c *RealClient) connect() {
	r := c.run
	conn, _, err := zk.Connect([]string{Address}, r.real(r.world.SessionTimeout),
		zk.WithDialer(func(_, _ string, timeout time.Duration) (net.Conn, error) { return c.dial(timeout) }),
		zk.WithHostProvider(&realHosts{run: r}),
		zk.WithLogger(quiet{}),
		zk.WithLogInfo(false),
		zk.WithMaxBufferSize(realBuffer),
		zk.WithMaxConnBufferSize(realBuffer),
		zk.WithEventCallback(c.notice))
	if err != nil {
		panic(fmt.Sprintf("fakezk: connect %s: %v", c.name, err)) // only a wrong option of ours can do it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.conns = append(c.conns, conn)
}

const realBuffer = 64 << 10

// Sleep waits in virtual time, or until ctx ends.
func (c *RealClient) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(c.run.real(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Now is the virtual time since the world began.
func (c *RealClient) Now() time.Duration { return c.run.now() }

// At is the virtual time at which the clock shows t, the same for each client.
func (c *RealClient) At(t time.Time) time.Duration {
	return t.Sub(c.run.start) * time.Duration(c.run.world.Pace)
}

// Note writes a line into the trace, as the client's script, and returns when
// that was.
func (c *RealClient) Note(format string, args ...any) Moment {
	text := fmt.Sprintf(format, args...)
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	return c.run.log(c.name, "%s", text)
}

// NoteAside is Note; it is there for what is written for a Client of a World.
func (c *RealClient) NoteAside(format string, args ...any) Moment { return c.Note(format, args...) }

// notice records what the client's library says of the session.
func (c *RealClient) notice(ev zk.Event) {
	kind, ok := noticeKinds[ev.State]
	if ev.Type != zk.EventSession || !ok {
		return
	}
	r := c.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.log(c.name, "is told: %s", kind); at != AfterEnd {
		r.notices = append(r.notices, pendingNotice{Notice{Client: c.name, Kind: kind, Time: r.now()}, at})
	}
}

// dial is the client's dialer.
func (c *RealClient) dial(timeout time.Duration) (net.Conn, error) {
	r := c.run
	r.mu.Lock()
	c.dials++
	number := c.dials
	hanging := !r.closing && c.hang.hit(r.now())
	refused := r.down || !r.closing && c.refuse.hit(r.now())
	r.mu.Unlock()
	switch {
	case hanging:
		r.pause(r.ctx, min(timeout, dialPatience))
		return nil, os.ErrDeadlineExceeded
	case refused:
		r.pause(r.ctx, refusalPause)
		return nil, syscall.ECONNREFUSED
	}
	server, err := net.DialTimeout("tcp", r.world.Server.Address(), timeout)
	if err != nil {
		r.pause(r.ctx, refusalPause)
		return nil, err
	}
	return r.open(c, number, server), nil
}

// dialPatience is how long a dial hangs, in virtual time.
const dialPatience = time.Second

// realHosts offers the only server. The client pauses between dials only when the
// end has come, as in a World.
type realHosts struct{ run *realRun }

func (h *realHosts) Init([]string) error { return nil }
func (h *realHosts) Len() int            { return 1 }
func (h *realHosts) Connected()          {}
func (h *realHosts) Next() (server string, retryStart bool) {
	h.run.mu.Lock()
	defer h.run.mu.Unlock()
	return Address, h.run.closing
}
