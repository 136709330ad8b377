package scenario

import (
	"context"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
)

// Client is what a [Player] is in its World: its names, its connections and its time.
type Client struct {
	ctx    context.Context
	life   context.Context
	client client
	index  int

	own       *zk.Conn // of UseConn
	ownEvents <-chan zk.Event
}

// Name is the client's name: a, b, c, ... Its further goroutines are called a.2, a.3, ... When a
// client's process has died, the next one is called a'.
func (c *Client) Name() string { return c.client.Name() }

// Owner is the name of the client, the same for each of its processes.
func (c *Client) Owner() string { return strings.TrimRight(c.Name(), "'") }

// Index is the client's place among the others, from 0.
func (c *Client) Index() int { return c.index }

// Conn is the client's connection, made at the first call.
func (c *Client) Conn() *zk.Conn {
	if c.own != nil {
		return c.own
	}
	return c.client.Conn()
}

// Events are the session events of Conn, like the channel of zk.Connect.
func (c *Client) Events() <-chan zk.Event {
	if c.own != nil {
		return c.ownEvents
	}
	return c.client.Events()
}

// UseConn makes a connection that a Play has dialed by itself, at Address, the one of Conn, and its
// session events those of Events. It must come before any other call of the object.
func (c *Client) UseConn(conn *zk.Conn, events <-chan zk.Event) {
	c.own, c.ownEvents = conn, events
}

// Connect makes one more connection of the client, with its own session. The channel has the
// session's events, like the channel of zk.Connect.
func (c *Client) Connect() (*zk.Conn, <-chan zk.Event) { return c.client.Connect() }

// Address is an address, host:port, for code that connects by itself. In a World it needs a program
// built by zksim go; see [sim.Overlaid]. In a real world it needs nothing.
func (c *Client) Address() string { return c.client.Address() }

// Context is done when the World ends.
func (c *Client) Context() context.Context { return c.ctx }

// Life is a context that is done when the client's script has ended, for an object that works until
// its owner ends.
func (c *Client) Life() context.Context { return c.life }

// Goroutine is the number of the goroutine among those of its client, from 0.
func (c *Client) Goroutine() int { return c.client.Number() }

// Clock is the time of the clock after d of virtual time.
func (c *Client) Clock(d time.Duration) time.Time {
	return time.Now().Add(d / time.Duration(c.client.Pace()))
}

// VirtualTime is the virtual time, since the World began, at which the clock shows t.
func (c *Client) VirtualTime(t time.Time) time.Duration { return c.client.At(t) }

// Pause sleeps in virtual time and reports whether the World still runs.
func (c *Client) Pause(d time.Duration) bool { return c.client.Sleep(c.ctx, d) == nil }

// client is the part of a world that a player needs: a goroutine of a client of a [sim.World], or a
// client of a [realworld.World], which has one goroutine only.
type client interface {
	// Name is the name of the goroutine, Number its place among the goroutines of the client from
	// 0, and Of the name of the client.
	Name() string
	Number() int
	Of() string
	Conn() *zk.Conn
	Events() <-chan zk.Event // of Conn
	// Connect makes one more connection, and returns its session events, too.
	Connect() (*zk.Conn, <-chan zk.Event)
	// Session is the session of Conn, 0 if the client has called Connect or its own code has
	// dialed.
	Session() int64
	// CutOff reports whether the last dial has failed: perhaps the client can reach no server.
	CutOff() bool
	// Expired is the number of sessions of the client that the server has ended, as far as known,
	// or of those that are the given one, if that is not 0.
	Expired(session int64) int
	// Address is an address for the client's own code to dial.
	Address() string
	Sleep(ctx context.Context, d time.Duration) error
	// Within is a context that is done after d of virtual time.
	Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	Now() time.Duration
	// At is the value of Now at the moment when the clock shows t. It is equal for all clients of a
	// world.
	At(t time.Time) time.Duration
	Note(format string, args ...any) trace.Moment
	NoteAside(format string, args ...any) trace.Moment
	// Pace is the number of seconds of the world's time that pass in one second of the clock.
	Pace() int
}

// worldClient is a goroutine of a client in a World. In the bubble of a World the clock shows the
// time of the World.
type worldClient struct{ *sim.Goroutine }

func (c worldClient) Of() string { return c.Client.Name() }
func (worldClient) Pace() int    { return 1 }

// Address is served by the overlay.
func (worldClient) Address() string { return sim.Address }

func (c worldClient) At(t time.Time) time.Duration { return c.Now() + time.Until(t) }

// realClient is a client in a RealWorld.
type realClient struct{ *realworld.Client }

func (c realClient) Of() string { return c.Name() }

// Within counts time of the clock, which passes slower.
func (c realClient) Within(ctx context.Context, d time.Duration) (context.Context,
	context.CancelFunc) {
	return context.WithTimeout(ctx, d/time.Duration(c.Pace()))
}
func (realClient) Number() int       { return 0 }
func (realClient) Expired(int64) int { return 0 }
