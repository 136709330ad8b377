package testconn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
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
	s *Server

	mu     sync.Mutex
	calls  []string
	rules  []*Rule
	wire   net.Conn
	gate   chan struct{} // dials wait for it; nil: they need not
	closed bool
	deaf   bool
	cuts   int        // the number of requests that fail at once
	states []zk.State // the results of State, in turn, while cuts remain
	behind Copy       // reads show it until the next sync; nil: no lag
	except int64      // the session without lag
}

// Rule is the fate of one request. The zero Rule changes nothing.
type Rule struct {
	Before func()     // called before the request is sent; may be nil
	Fault  fault.Kind // of the request, in fakezk: DropRequest or DropReply; "": none
	Lose   bool       // the request is not sent
	After  func()     // called when the request has ended; may be nil
	Err    error      // returned in place of the answer; nil: the answer is

	op  string
	nth int
}

// The ways in which one request can fail.
var (
	LoseReply   = Rule{Fault: fault.DropReply}
	LoseRequest = Rule{Fault: fault.DropRequest}
	// NetError is the error of a write that has failed, although all of it has arrived.
	NetError = Rule{Err: io.ErrClosedPipe}
	// NoServer is the failure of an unsent request while no server can be dialled.
	NoServer = Rule{Lose: true, Err: zk.ErrNoServer}
	Refused  = Rule{Lose: true, Err: zk.ErrNoAuth}
)

// Connect returns a connection with a session, which ends with the test.
func (s *Server) Connect() *Conn {
	s.t.Helper()
	c := &Conn{s: s}
	conn, _, err := zk.Connect([]string{fakezk.Address}, longest,
		zk.WithDialer(c.dial), zk.WithHostProvider(hosts{c}), zk.WithLogger(Silence{}),
		zk.WithMaxBufferSize(64<<10)) // the default takes, and clears, a megabyte and a half
	if err != nil {
		s.t.Fatalf("connect: %v", err)
	}
	c.Conn = conn
	s.t.Cleanup(c.Close)
	c.awaitSession(0)
	return c
}

// dial connects as soon as the gate is open.
func (c *Conn) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	for {
		if gate := c.closedGate(); gate != nil {
			<-gate
		}
		if c.isClosed() {
			return nil, zk.ErrClosing
		}
		conn, err := c.s.Dialer()(network, address, timeout)
		if err != nil {
			return nil, err
		}
		if c.connected(conn) {
			return conn, nil
		}
		if err := conn.Close(); err != nil {
			return nil, err
		}
	}
}

// connected makes wire the connection, unless the gate was closed meanwhile.
func (c *Conn) connected(wire net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gate != nil {
		return false
	}
	c.wire = wire
	return true
}

// closedGate returns the channel that dials wait for, nil if they need not wait.
func (c *Conn) closedGate() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gate
}

// hosts offers one server. After Close, Next reports the end of a round, so that the client checks
// whether it was closed.
type hosts struct{ c *Conn }

func (hosts) Init([]string) error    { return nil }
func (hosts) Len() int               { return 1 }
func (hosts) Connected()             {}
func (h hosts) Next() (string, bool) { return fakezk.Address, h.c.isClosed() }

// Silence is a logger of the client that says nothing.
type Silence struct{}

// Printf does nothing.
func (Silence) Printf(string, ...any) {}

func (c *Conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// On sets a rule for the n-th request of a kind from now, not counting requests that earlier rules
// take. The kind "" is any.
func (c *Conn) On(op string, nth int, r Rule) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.op, r.nth = op, nth
	c.rules = append(c.rules, &r)
}

// Off ends all rules.
func (c *Conn) Off() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules = nil
}

// Calls returns the requests so far, as "create /path".
func (c *Conn) Calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

// Called counts the requests of a kind so far.
func (c *Conn) Called(op string) (n int) {
	for _, call := range c.Calls() {
		if strings.HasPrefix(call, op+" ") {
			n++
		}
	}
	return n
}

// Deafen makes the client miss the events of all watches set from now on.
func (c *Conn) Deafen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaf = true
}

// Cut fails the next n requests at once, as a server does that resets each connection, while State
// says these states in turn.
func (c *Conn) Cut(n int, states ...zk.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts, c.states = n, states
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
	c.mu.Lock()
	c.gate = make(chan struct{})
	wire := c.wire
	c.mu.Unlock()
	if err := wire.Close(); err != nil {
		c.s.t.Errorf("disconnect: %v", err)
	}
	time.Sleep(time.Microsecond) // until the client knows
}

// Reconnect lets the client connect again. It does not wait for that.
func (c *Conn) Reconnect() { c.open(false) }

// open opens the gate, if it is closed.
func (c *Conn) open(forGood bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = c.closed || forGood
	if c.gate != nil {
		close(c.gate)
		c.gate = nil
	}
}

// Expire ends the session, and waits for the next one unless the client is disconnected.
func (c *Conn) Expire() {
	old := c.SessionID()
	if err := c.s.ExpireSession(old); err != nil {
		c.s.t.Errorf("expire: %v", err)
	}
	c.awaitSession(old)
}

// ExpireLate is Expire after which the ephemeral nodes of the old session stay for a while.
func (c *Conn) ExpireLate(stay time.Duration) {
	old := c.SessionID()
	c.inject(fault.Fault{Kind: fault.LateReap, For: stay, At: time.Millisecond})
	time.Sleep(time.Millisecond)
	c.awaitSession(old)
}

// awaitSession waits for another session than the old one.
func (c *Conn) awaitSession(old int64) {
	for c.closedGate() == nil {
		if c.Conn.SessionID() != old && c.Conn.State() == zk.StateHasSession {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Close closes the connection for good, and waits until its client has ended.
func (c *Conn) Close() {
	c.open(true)
	c.Conn.Close()
	time.Sleep(time.Microsecond) // until the client has ended
}

// State is the client's state, unless Cut has set another.
func (c *Conn) State() zk.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cuts > 0 && len(c.states) > 0 {
		state := c.states[0]
		c.states = append(c.states[1:], state)
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
}

// request sends one request under the rules.
func (c *Conn) request(op, path string, send func() error) error {
	r, cut := c.begin(op, path)
	if cut {
		return zk.ErrConnectionClosed
	}
	if c.isClosed() {
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

// begin notes a request, and returns the rule for it, and whether it is cut.
func (c *Conn) begin(op, path string) (r Rule, cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, op+" "+path)
	if c.cuts > 0 {
		c.cuts--
		return Rule{}, true
	}
	for i, r := range c.rules {
		if r.op != op && r.op != "" {
			continue
		}
		if r.nth--; r.nth == 0 {
			c.rules = slices.Delete(c.rules, i, i+1)
			return *r, false
		}
	}
	return Rule{}, false
}
