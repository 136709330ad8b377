package realworld

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/fakezk/trace"
)

// Client is a World's client, for use by its script. Its methods may be called from any goroutine.
type Client struct {
	proxy  *proxy
	name   string
	once   sync.Once
	first  *zk.Conn        // the result of Conn
	events <-chan zk.Event // the result of Events

	// Guarded by the run's mutex.
	peer   carry.Client // as faults know it
	dials  int
	conns  []*zk.Conn   // every one, for the end
	number int          // of the next result of Connect, from 0
	own    *ownListener // for the client's own code, if it has asked for it
	done   bool         // the script has ended
	cutOff bool         // the last dial has failed
}

// Name is the client's name.
func (c *Client) Name() string { return c.name }

// CutOff reports whether the client's last dial has failed: perhaps it can reach no server.
func (c *Client) CutOff() bool {
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	return c.cutOff
}

// Pace is how many virtual seconds pass in one real second.
func (c *Client) Pace() int { return c.proxy.clock.pace }

// Conn is the client's connection, made at the first call. It may still be
// connecting; requests wait for it.
func (c *Client) Conn() *zk.Conn {
	c.once.Do(func() { c.first, c.events = c.Connect() })
	return c.first
}

// Events are the session events of Conn, as of the channel that zk.Connect returns. The client
// drops events when the channel's six slots are full.
func (c *Client) Events() <-chan zk.Event {
	c.Conn()
	return c.events
}

// Connect makes one more connection, with its own session, and returns it and its channel of
// session events, as zk.Connect does. The World closes it at the end.
func (c *Client) Connect() (*zk.Conn, <-chan zk.Event) {
	p := c.proxy
	hosts := p.hostsFor(c)
	conn, events, err := zk.Connect(p.servers.clientAddresses(), p.servers.timeout,
		zk.WithDialer(hosts.dial),
		zk.WithHostProvider(hosts),
		zk.WithLogger(zkclient.Quiet{}),
		zk.WithLogInfo(false),
		zk.WithMaxBufferSize(buffer),
		zk.WithMaxConnBufferSize(buffer),
		zk.WithEventCallback(c.notice))
	if err != nil {
		// only a wrong option of ours causes an error
		panic(fmt.Sprintf("fakezk: connect %s: %v", c.name, err))
	}
	hosts.conn.Store(conn)
	p.mu.Lock()
	defer p.mu.Unlock()
	c.conns = append(c.conns, conn)
	return conn, events
}

const buffer = 64 << 10

// Sleep waits in virtual time, or until ctx ends.
func (c *Client) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(c.proxy.clock.real(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Now is the virtual time since the world began.
func (c *Client) Now() time.Duration { return c.proxy.clock.now() }

// At is the virtual time at which the clock shows t, the same for each client.
func (c *Client) At(t time.Time) time.Duration {
	return c.proxy.clock.at(t)
}

// Note writes a line into the trace, as the client's script, and returns when that was.
func (c *Client) Note(format string, args ...any) trace.Moment {
	text := trace.Formatted(format, args)
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	return c.proxy.journal.log(c.name, "%s", text)
}

// NoteAside is Note, for scripts that are written for a sim.Client.
func (c *Client) NoteAside(format string, args ...any) trace.Moment {
	return c.Note(format, args...)
}

// notice records a session event of the client's library.
func (c *Client) notice(ev zk.Event) {
	kind, ok := zkclient.NoticeOf(ev)
	if !ok {
		return
	}
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	c.proxy.journal.notice(c.name, kind)
}
