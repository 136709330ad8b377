package realworld

import (
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
)

// hosts offers the servers to one connection of a client, in turns. When the client has dialed all
// of them in vain it fails the requests that wait with ErrNoServer, and pauses for a second. The
// client itself would pause for a second of the clock, which may be many of the run. So hosts does
// it in its place, and the client learns only at the end that it has dialed all.
type hosts struct {
	proxy  *proxy
	conn   atomic.Pointer[zk.Conn] // nil until zk.Connect has returned
	client *Client
	next   int  // server
	dials  int  // since the client was connected, or has paused
	pauses bool // before the next dial
}

// retryPause is the client's pause, in virtual time.
const retryPause = time.Second

// hostsFor are the hosts of a client's next connection. The connections begin at different servers.
func (p *proxy) hostsFor(c *Client) *hosts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.number++
	return &hosts{proxy: p, client: c,
		next: (int(c.peer.ID) + c.number - 2) % len(p.servers.list)}
}

func (h *hosts) Init([]string) error { return nil }
func (h *hosts) Len() int            { return len(h.proxy.servers.list) }
func (h *hosts) Connected()          { h.dials = 0 }
func (h *hosts) Next() (server string, retryStart bool) {
	server = carry.Address(h.next)
	h.next = (h.next + 1) % h.Len()
	if h.pauses = h.dials == h.Len(); h.pauses {
		h.dials = 0
	}
	h.dials++
	h.proxy.mu.Lock()
	defer h.proxy.mu.Unlock()
	return server, h.proxy.closing
}

// dial is the client's dialer. Like Next, it is called by the goroutine that connects.
func (h *hosts) dial(_, address string, timeout time.Duration) (net.Conn, error) {
	p := h.proxy
	p.mu.Lock()
	if h.pauses && !p.closing {
		h.failUnsent()
	}
	p.mu.Unlock()
	if h.pauses {
		p.pause(retryPause)
	}
	return p.dial(h.client, slices.Index(p.servers.clientAddresses(), address), timeout)
}

// failUnsent fails the requests that wait for the connection.
func (h *hosts) failUnsent() {
	conn := h.conn.Load()
	if conn == nil {
		return
	}
	unsent := zkclient.TakeUnsent(conn)
	if len(unsent) > 0 {
		h.proxy.journal.log(h.client.name, "fails what it has not sent: %v", zk.ErrNoServer)
	}
	for _, request := range unsent {
		request.Fail(zk.ErrNoServer)
	}
}
