package sim

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
	"github.com/zksim/zksim/fakezk/trace"
)

// Client is a World's client, for use by its script. Its methods may be called from any goroutine
// of the client.
type Client struct {
	inbox   *inbox
	process *process
	name    string
	index   int // among the World's clients
	lines   *guard.Client

	dead   atomic.Bool // its process has died
	dialed atomic.Bool // its own code has dialed
	asked  atomic.Bool // it has sent a request on a connection of Connect
	cutOff atomic.Bool // its last dial has failed

	mu       sync.Mutex           // guards the fields below
	expired  map[int64]bool       // sessions that the server has ended
	connects int                  // calls of Connect
	conns    []connection         // every one
	scripts  [MaxGoroutines]int64 // ids of goroutines with a running script, 0: none
	begun    []int64              // ids of goroutines that have run a script

	once   sync.Once
	first  *zk.Conn        // the result of Conn
	events <-chan zk.Event // the result of Events
}

// Name is the client's name.
func (c *Client) Name() string { return c.name }

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

// GetsOn notes that the script gets on, without a line in the trace: a runaway is code that does
// not. The script need not be that of the calling goroutine.
func (c *Client) GetsOn() { c.lines.GetsOn() }

// CutOff reports whether the client's last dial has failed: perhaps it can reach no server.
func (c *Client) CutOff() bool { return c.cutOff.Load() }

// Expired is the number of sessions of the client that the server has ended, or of those that are
// the given one, if that is not 0. The client may not know of the last one.
func (c *Client) Expired(session int64) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ended := range c.expired {
		if session == 0 || session == ended {
			n++
		}
	}
	return n
}

// Session is the session of Conn. It is 0 if the client has called Connect, or its own code has
// dialed: then it has several sessions, and only the code knows which of them it uses.
func (c *Client) Session() int64 {
	if c.dialed.Load() {
		return 0
	}
	conn := c.Conn()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.connects > 1 {
		return 0
	}
	return conn.SessionID()
}

// Connect makes one more connection, with its own session, and returns it and its channel of
// session events, as zk.Connect does. The World closes it at the end. The client drops events when
// the channel's six slots are full.
func (c *Client) Connect() (*zk.Conn, <-chan zk.Event) {
	c.mu.Lock()
	c.connects++
	nth := c.connects
	c.mu.Unlock()
	conn, events := zkclient.Connect(c.inbox.world.SessionTimeout,
		zk.WithDialer(func(_, address string, timeout time.Duration) (net.Conn, error) {
			return c.dial(nth, address, timeout)
		}),
		zk.WithHostProvider(c.hosts(nth)),
		zk.WithLogger(zkclient.Quiet{}), // the trace has all that it would say
		zk.WithLogInfo(false),
		zk.WithMaxBufferSize(c.inbox.world.ClientBuffer),
		zk.WithMaxConnBufferSize(c.inbox.world.ClientBuffer),
		func(conn *zk.Conn) {
			zk.WithEventCallback(func(ev zk.Event) {
				c.wakeApart(nth, conn, ev)
				c.notice(ev)
			})(conn)
		})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, connection{nth, conn})
	return conn, events
}

// blockIfDead stops a goroutine of a process that has died, until the World ends.
func (c *Client) blockIfDead() {
	if c.dead.Load() && !c.inbox.closing.Load() {
		<-c.inbox.ctx.Done()
	}
}

// connection is the result of the client's nth Connect.
type connection struct {
	nth int
	*zk.Conn
}

// closeAll closes the results of Connect.
func (c *Client) closeAll() {
	c.mu.Lock()
	conns := slices.Clone(c.conns)
	c.mu.Unlock()
	for _, conn := range conns {
		conn.Close()
	}
}

// conn is the result of the nth Connect, nil if there is none.
func (c *Client) conn(nth int) *zk.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.conns, func(conn connection) bool { return conn.nth == nth })
	if i < 0 {
		return nil
	}
	return c.conns[i].Conn
}

// Sleep waits in virtual time, to an instant that nothing else in the World shares (goroutines of
// one client that sleep to the same instant wake together), or until ctx ends.
func (c *Client) Sleep(ctx context.Context, d time.Duration) error {
	return c.sleep(ctx, "", d)
}

// sleep is Sleep for a goroutine with a name. Those of the same name that sleep to the
// same instant wake together.
func (c *Client) sleep(ctx context.Context, name string, d time.Duration) error {
	c.blockIfDead()
	woken := make(chan struct{})
	z := sleeper{process: c.process, name: name, at: c.Now() + max(d, 0), woken: woken}
	c.inbox.add(func(m *mail) { m.sleepers = append(m.sleepers, z) })
	select {
	case <-woken:
		c.blockIfDead()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Now is the virtual time since the World began.
func (c *Client) Now() time.Duration { return c.inbox.agenda.Elapsed() }

// Note writes a line into the trace, as the client's script, and returns the moment of the line.
// Call it from one goroutine of the client only.
func (c *Client) Note(format string, args ...any) trace.Moment {
	return c.Goroutine(0).Note(format, args...)
}

// NoteAside is Note for a second goroutine of the client, such as one that watches over a lock.
// Lines of one step are ordered by source: the client's library, then the script, then asides.
func (c *Client) NoteAside(format string, args ...any) trace.Moment {
	return c.Goroutine(0).NoteAside(format, args...)
}

// The sources of a client's lines, in their order within a step; each further Goroutine has a
// script and asides, too.
const (
	sourceLibrary = iota
	sourceScript
	sourceAside
	sourcesPerGoroutine
	sources = sourcesPerGoroutine + (MaxGoroutines-1)*(sourcesPerGoroutine-sourceScript)
)

func (c *Client) note(actor string, source int, format string, args ...any) trace.Moment {
	if c.blockIfDead(); c.dead.Load() {
		return trace.AfterEnd
	}
	m := c.inbox.journal.Add(1+c.index*sources+source, c.Now(), actor, "%s",
		trace.Formatted(format, args))
	if source != sourceLibrary && c.lines.Line(m) {
		c.inbox.wakeUp()
		select {}
	}
	if m != trace.AfterEnd {
		if c.inbox.world.Schedule.Kind == Turns {
			c.inbox.saidNow(trace.Said{Client: actor, Text: fmt.Sprintf(format, args...)})
		}
		c.inbox.wakeUp()
	}
	return m
}

// notice records a session event of the client's library. It is not recorded if the client's own
// code has dialed and does not use the connections of Connect.
func (c *Client) notice(ev zk.Event) {
	kind, ok := zkclient.NoticeOf(ev)
	if !ok || c.inbox.closing.Load() || c.dead.Load() || c.dialed.Load() && !c.asked.Load() {
		return
	}
	m := c.note(c.name, sourceLibrary, "is told: %s", kind)
	c.inbox.journal.Notice(m, trace.Notice{Client: c.name, Kind: kind, Time: c.Now()})
}

// worldHosts offers the World's servers in turn, from one drawn by the seed. It tells the client
// only at the end that all are dialed, so that the client can close. Before that the World pauses
// in place of the client (dial.go).
type worldHosts struct {
	inbox *inbox
	next  int
}

func (c *Client) hosts(connect int) *worldHosts {
	d := draws.Draws{Seed: c.inbox.world.Seed}
	return &worldHosts{c.inbox, d.FirstServer(c.index, connect, c.inbox.world.servers())}
}

func (h *worldHosts) Init([]string) error { return nil }
func (h *worldHosts) Len() int            { return h.inbox.world.servers() }
func (h *worldHosts) Connected()          {}
func (h *worldHosts) Next() (server string, retryStart bool) {
	server = addresses[h.next]
	h.next = (h.next + 1) % h.Len()
	return server, h.inbox.closing.Load()
}
