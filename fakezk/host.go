package fakezk

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/zksim/zksim/fakezk/internal/dialhook"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
)

// Host lets code that dials for itself reach the server: until the test ends, all dials by TCP to
// the addresses, such as "zk1.prod.example:2181", and all look-ups of their hosts, by the calling
// goroutine and by those that it starts from now on. Other dials use the network. A dial may go
// through TLS; see [RootCA]. In an ensemble the addresses are those of its servers, in order. Tests
// that run in parallel may use the same addresses.
//
// The program must be built by zksim go, else the test fails: see docs/any-go.md. A goroutine of
// time.AfterFunc, or one that was started before, uses the network.
func (s *Server) Host(t TB, addresses ...string) {
	t.Helper()
	if !dialhook.Overlaid {
		t.Fatalf("fakezk: Host needs a program built by zksim go: run the test by zksim go test, " +
			"or give the code the Dialer of the server")
	}
	h := hosts{front: s.front, addresses: map[string]string{}, dialed: map[string]int{}}
	for i, address := range addresses {
		if err := h.add(address, i%s.opts.Servers); err != nil {
			t.Fatalf("fakezk: Host: %v", err)
		}
	}
	t.Cleanup(dialhook.Own(dialhook.Net{Dial: h.dial, Address: h.address, Name: h.name}))
}

// RootCA is the certificate, as PEM, of the authority that signs the certificates of all Servers.
// Code that dials through TLS to an address of [Server.Host], or by a Dialer, needs it. A Server
// has a certificate for any host. It answers with TLS if the client begins with it, and asks for no
// certificate of the client.
func RootCA() []byte { return tlsend.RootCA() }

// hosts are the addresses by which a Server is known.
type hosts struct {
	front     *front
	addresses map[string]string // from the name of a host to its IP address
	dialed    map[string]int    // the server by host:port, with the name and with the IP address
}

// add makes an address of a server known. A name gets an IP address that no real host has (RFC
// 5737).
func (h hosts) add(address string, server int) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("address %q: expected host:port", address)
	}
	h.dialed[address] = server
	if net.ParseIP(host) != nil {
		return nil
	}
	if h.addresses[host] == "" {
		h.addresses[host] = fmt.Sprintf("192.0.2.%d", len(h.addresses)+1)
	}
	h.dialed[net.JoinHostPort(h.addresses[host], port)] = server
	return nil
}

func (h hosts) dial(_ context.Context, address string, _ time.Time) (net.Conn, error, bool) {
	server, known := h.dialed[address]
	if !known {
		return nil, nil, false
	}
	conn, err := h.front.dial("", hostOf(address), server)
	return conn, err, true
}

func (h hosts) address(host string) (string, bool) {
	address, ok := h.addresses[host]
	return address, ok
}

func (h hosts) name(address string) (string, bool) {
	for host, of := range h.addresses { // at most one has it
		if of == address {
			return host, true
		}
	}
	return "", false
}
