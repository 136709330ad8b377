package testconn

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
)

// Conn is a connection of the genuine client. Its requests, called "create", "createContainer",
// "delete", "exists", "existsW", "get", "getW", "set", "children", "childrenW", "sync" and "multi",
// take a millisecond each, except after Close.
type Conn struct {
	*zk.Conn
	*rules
	s    *Server
	wire *wire
	lag  *lag
	deaf atomic.Bool // events of watches are missed
}

// Connect returns a connection with a session, which ends with the test.
func (s *Server) Connect() *Conn {
	s.t.Helper()
	c := &Conn{s: s, rules: &rules{}, wire: &wire{s: s}}
	conn, _, err := zk.Connect([]string{fakezk.Address}, longest,
		zk.WithDialer(c.wire.dial), zk.WithHostProvider(hosts{c.wire}), zk.WithLogger(Silence{}),
		zk.WithMaxBufferSize(64<<10)) // the default takes, and clears, a megabyte and a half
	if err != nil {
		s.t.Fatalf("connect: %v", err)
	}
	c.Conn, c.lag = conn, &lag{conn: conn}
	s.t.Cleanup(c.Close)
	c.awaitSession(0)
	return c
}

// Deafen makes the client miss the events of all watches set from now on.
func (c *Conn) Deafen() { c.deaf.Store(true) }

// heard is the channel of a watch, unless the client is to miss its event.
func (c *Conn) heard(events <-chan zk.Event) <-chan zk.Event {
	if c.deaf.Load() {
		return make(chan zk.Event)
	}
	return events
}

// Seed makes an ephemeral node of the connection's session.
func (c *Conn) Seed(path, data string) {
	c.s.t.Helper()
	if _, err := c.Conn.Create(
		path, []byte(data), zk.FlagEphemeral, zk.WorldACL(zk.PermAll),
	); err != nil {
		c.s.t.Fatalf("seed %s: %v", path, err)
	}
}

// Disconnect cuts the connection, until Reconnect. The session lives on.
func (c *Conn) Disconnect() {
	if err := c.wire.cut(); err != nil {
		c.s.t.Errorf("disconnect: %v", err)
	}
	time.Sleep(time.Microsecond) // until the client knows
}

// Reconnect lets the client connect again. It does not wait for that.
func (c *Conn) Reconnect() { c.wire.open(false) }

// Expire ends the session, and waits for the next one unless the client is disconnected.
func (c *Conn) Expire() {
	old := c.SessionID()
	if err := c.s.ExpireSession(old); err != nil {
		c.s.t.Errorf("expire: %v", err)
	}
	c.awaitSession(old)
}

// ExpireLate is Expire, but the ephemeral nodes of the old session stay for a while.
func (c *Conn) ExpireLate(stay time.Duration) {
	old := c.SessionID()
	c.inject(fault.Fault{Kind: fault.LateReap, For: stay, At: time.Millisecond})
	time.Sleep(time.Millisecond)
	c.awaitSession(old)
}

// awaitSession waits for another session than the old one.
func (c *Conn) awaitSession(old int64) {
	for c.wire.closedGate() == nil {
		if c.Conn.SessionID() != old && c.Conn.State() == zk.StateHasSession {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Close closes the connection for good, and waits until its client has ended.
func (c *Conn) Close() {
	c.wire.open(true)
	c.Conn.Close()
	time.Sleep(time.Microsecond) // until the client has ended
}

// State is the client's state, unless Cut has set another.
func (c *Conn) State() zk.State {
	if state, is := c.cutState(); is {
		return state
	}
	return c.Conn.State()
}

// inject arms a fault on the session of the connection.
func (c *Conn) inject(f fault.Fault) {
	f.Client = fmt.Sprintf("0x%x", c.SessionID())
	if err := c.s.Inject(f); err != nil {
		c.s.t.Errorf("inject %v: %v", f, err)
	}
}

// wireNames are the names of requests in fakezk, if they differ.
var wireNames = map[string]string{
	"get": "getData", "getW": "getData", "existsW": "exists", "set": "setData",
	"children": "getChildren2", "childrenW": "getChildren2",
	"confirm": "multi",
}

// request sends one request, and breaks it if a rule of the test says so.
func (c *Conn) request(op, path string, send func() error) error {
	r, cut := c.begin(op, path)
	if cut {
		return zk.ErrConnectionClosed
	}
	if c.wire.isClosed() {
		return send()
	}
	time.Sleep(time.Millisecond)
	if r.Before != nil {
		r.Before()
	}
	if r.Fault != "" {
		f := fault.Fault{Kind: r.Fault, Op: op, Path: path, Request: 1}
		if name, other := wireNames[op]; other {
			f.Op = name
		}
		c.inject(f)
	}
	err := errors.New("not sent")
	if !r.Lose {
		err = send()
	}
	if r.After != nil {
		r.After()
	}
	if r.Err != nil {
		return r.Err
	}
	return err
}
