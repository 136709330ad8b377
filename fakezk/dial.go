package fakezk

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Address is the server address to give to zk.Connect together with Dialer. It is an IP address, so
// no name is looked up.
const Address = "127.0.0.1:2181"

// Dialer connects to the server in memory. A single server takes every address. In an ensemble the
// address, one of [Server.Addresses], selects the server:
//
//	conn, events, err := zk.Connect(server.Addresses(), 10*time.Second,
//		zk.WithDialer(server.Dialer()), zk.WithHostProvider(fakezk.HostProvider()))
//
// A server that was made outside of a testing/synctest bubble refuses connections from inside, and
// the other way round.
func (s *Server) Dialer() zk.Dialer {
	return func(_, address string, _ time.Duration) (net.Conn, error) {
		return s.dialTo("", address)
	}
}

// DialerAs is a Dialer whose sessions have a name: the first one is called name, the second one
// name.2, and so on. Faults, Sessions, the trace and the log use these names in place of S1 and S2.
// A name consists of letters, digits, _ and -. Names of the form S1 belong to the server, and 0x
// begins an id: the dialer of a wrong name returns an error.
func (s *Server) DialerAs(name string) zk.Dialer {
	if err := checkName(name); err != nil {
		return func(_, _ string, _ time.Duration) (net.Conn, error) { return nil, err }
	}
	if name == "" {
		return s.Dialer()
	}
	s.mu.Lock()
	s.names.expect(name)
	s.mu.Unlock()
	return func(_, address string, _ time.Duration) (net.Conn, error) {
		return s.dialTo(name, address)
	}
}

// dialTo connects a client with a name, "" for none, to the server with an address.
func (s *Server) dialTo(name, address string) (net.Conn, error) {
	server := slices.Index(s.Addresses(), address)
	if s.opts.Servers == 1 {
		server = 0
	}
	if server < 0 {
		return nil, fmt.Errorf("fakezk: dial %s: the ensemble has no server there, but %s", address,
			strings.Join(s.Addresses(), ", "))
	}
	return s.front.dial(name, hostOf(address), server)
}

// hostOf is the host of an address, which may have no port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// HostProvider is a zk.HostProvider that looks up no names. It offers the addresses of the list in
// alphabetical order, one after the other; zk.Connect shuffles the list. The client reconnects at
// once when a connection is lost. When dials to all addresses have failed, it fails the requests
// that it has not sent, and waits for one second. With the client's own provider and a list of one
// server, the client waits before each reconnect.
func HostProvider() zk.HostProvider { return &hostProvider{} }

type hostProvider struct {
	mu      sync.Mutex
	servers []string
	next    int // index of the next address
	dials   int // since the last connection, or since the last wait
}

func (h *hostProvider) Init(servers []string) error {
	if len(servers) == 0 {
		return errors.New("fakezk: HostProvider needs an address")
	}
	h.servers = slices.Sorted(slices.Values(servers))
	return nil
}

func (h *hostProvider) Len() int { return len(h.servers) }

func (h *hostProvider) Next() (server string, retryStart bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server = h.servers[h.next]
	h.next = (h.next + 1) % len(h.servers)
	if retryStart = h.dials >= len(h.servers); retryStart {
		h.dials = 0
	}
	h.dials++
	return server, retryStart
}

func (h *hostProvider) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dials = 0
}
