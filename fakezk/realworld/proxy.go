package realworld

import (
	"context"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/memnet"
)

// proxy stands between the clients and the servers. Its methods that dial, strike, heal or close
// lock the mutex.
//
// It adds to the rules of package carry: it ends a session by a second connection, which takes
// time; a restart kills a process; and only the reply's xid shows which output belongs to a
// request. So only the reply itself is damaged, and notifications before it have passed.
type proxy struct {
	mu        *sync.Mutex
	clock     *clock
	journal   *journal
	sessions  sessions
	exchanges *exchanges
	servers   *servers
	guest     *guest
	outages   *outages

	ctx        context.Context // of the scripts
	clients    []*Client
	background sync.WaitGroup // what faults have begun
	readers    sync.WaitGroup
	net        *carry.Network
	links      map[int64]*link // of the connections of net
	lastConn   int64
	closing    bool // the end: nothing is counted
}

func newProxy(r *run) *proxy {
	p := &proxy{
		mu: &r.mu, clock: r.clock, journal: r.journal, sessions: r.sessions,
		exchanges: r.exchanges, servers: r.servers, guest: r.guest,
		net: carry.New(r.world.Plan...), links: map[int64]*link{},
	}
	p.net.Serve(carry.Ensemble{Servers: len(r.world.Servers)})
	for i, a := range r.world.Clients {
		p.clients = append(p.clients, &Client{
			proxy: p, name: a.Name, peer: carry.Client{ID: int64(i) + 1, Name: a.Name},
		})
	}
	return p
}

// begin starts the clock, and the timers of faults. The mutex is held.
func (p *proxy) begin(scripts context.Context) {
	p.ctx, p.clock.start = scripts, time.Now()
	for _, f := range p.net.Armed() {
		if f.At != 0 {
			time.AfterFunc(p.clock.real(f.At), func() { p.strike(f) })
		}
	}
}

// strike lets a fault act at its time.
func (p *proxy) strike(f *carry.Armed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.net.Strike(f, p.clock.now(), driver{p})
}

// pause waits for a virtual time, or until the scripts are to end.
func (p *proxy) pause(virtual time.Duration) { sleep(p.ctx, p.clock.real(virtual)) }

// dial connects a client to a server, and notes whether that has failed.
func (p *proxy) dial(c *Client, server int, timeout time.Duration) (net.Conn, error) {
	conn, err := p.connect(c, server, timeout)
	p.mu.Lock()
	defer p.mu.Unlock()
	c.cutOff = err != nil
	return conn, err
}

func (p *proxy) connect(c *Client, server int, timeout time.Duration) (net.Conn, error) {
	p.mu.Lock()
	c.dials++
	number := c.dials
	answer, _, actions := p.net.Dial(c.peer.ID, server, p.clock.now())
	p.carryOut(actions)
	down := p.outages.down[server] // which may last longer than it should
	p.mu.Unlock()
	switch {
	case answer == carry.Hangs:
		p.pause(min(timeout, dialPatience))
		return nil, os.ErrDeadlineExceeded
	case answer == carry.Refused || down:
		p.pause(carry.RefusalPause)
		return nil, syscall.ECONNREFUSED
	}
	conn, err := net.DialTimeout("tcp", p.servers.list[server].Address(), timeout)
	if err != nil {
		p.pause(carry.RefusalPause)
		return nil, err
	}
	return p.open(c, conn, server, number), nil
}

// dialPatience is how long a dial hangs, in virtual time.
const dialPatience = time.Second

// open begins a connection, over TCP, to a server: the client's connection of this number.
func (p *proxy) open(c *Client, tcp net.Conn, server, number int) net.Conn {
	l := &link{proxy: p, client: c, server: tcp, watches: watchesBy{}, lastZxid: -1}
	l.frames.Max = buffer
	l.end = memnet.New(l.onWrite, l.onClose)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastConn++
	l.conn = &carry.Conn{ID: p.lastConn, Client: &c.peer, Number: number, Server: server}
	p.links[l.conn.ID] = l
	p.net.Open(l.conn)
	p.journal.log(c.name, "connects%s (connection %d)", p.servers.to(server), number)
	p.readers.Add(1)
	go l.read()
	return l.end
}

// reviveAll lets dials to all servers succeed again.
func (p *proxy) reviveAll() {
	for i := range p.servers.list {
		p.net.Revive(i)
	}
}

// heal lets dials succeed again, and waits for what faults have begun. Held messages arrive at
// their time.
func (p *proxy) heal() {
	p.mu.Lock()
	p.carryOut(p.net.Heal(p.clock.now()))
	p.mu.Unlock()
	p.background.Wait()
}

// held is for how long delays and stalls still hold something, in virtual time.
func (p *proxy) held() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.net.HeldUntil()-p.clock.now())
}

// missed are the faults that have not acted.
func (p *proxy) missed() []fault.Fault { return p.net.Missed() }

// close closes the clients' connections, and resets those that are left then.
func (p *proxy) close() {
	p.mu.Lock()
	p.closing = true
	for _, c := range p.clients {
		if c.own != nil {
			closeQuietly(c.own)
		}
		for _, conn := range c.conns {
			p.background.Go(conn.Close)
		}
	}
	p.mu.Unlock()
	p.background.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.net.Conns() {
		p.carryOut(c.Reset(syscall.ECONNRESET))
	}
}
