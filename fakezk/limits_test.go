package fakezk

import (
	"net/netip"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

func TestMaxClientConns(t *testing.T) {
	s, address := startTCP(t, Options{MaxClientConns: 3})
	var open []*rawClient
	for range 2 {
		r, _ := tcpSession(t, address)
		open = append(open, r)
	}
	rawSession(t, s, 4*time.Second) // in memory, does not count
	silent := dialTCP(t, address)
	silent.send([]byte{0}) // has no session, counts
	awaitConnections(t, s, 3)
	for _, first := range []string{"", "ruok", "\x00\x00\x00\x2d"} {
		refused := dialTCP(t, address)
		if first != "" {
			_, _ = refused.Write([]byte(first)) // the server may be faster
		}
		check.Equal(t, readAll(t, refused), "", "the fourth connection")
	}
	open[0].send(framed(nil)) // ends the connection
	open[0].wantClosed()
	again, _ := tcpSession(t, address) // there is room once the client sees the end
	again.mustCall(ping)
	open[1].mustCall(ping)
}

// awaitConnections returns when n TCP connections are accepted, which a client cannot see.
func awaitConnections(t *testing.T, s *Server, n int) {
	t.Helper()
	await(t, "connections to be accepted", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.links.origins[origin{0, "127.0.0.1"}] == n
	})
}

func TestMaxClientConnsIs60(t *testing.T) {
	_, address := startTCP(t)
	for range 60 {
		tcpSession(t, address)
	}
	dialTCP(t, address).wantClosed()
}

func TestNegativeMaxClientConnsIsNoLimit(t *testing.T) {
	_, address := startTCP(t, Options{MaxClientConns: -1})
	for range 100 {
		if _, session := tcpSession(t, address); session.SessionID == 0 {
			t.Fatal("refused")
		}
	}
}

func TestConnectionsThatAreOverDoNotCount(t *testing.T) {
	s, address := startTCP(t, Options{MaxClientConns: 1})
	for range 200 {
		r := dialTCP(t, address)
		r.send([]byte("ruok"))
		if got := readAll(t, r); got != "imok" {
			t.Fatalf("got %q", got)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links.origins) > 0 || len(s.links.byID) > 0 {
		t.Errorf("left over: %v, %d links", s.links.origins, len(s.links.byID))
	}
}

func TestAddressesAreWrittenAsJavaDoes(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1":        "127.0.0.1",
		"::1":              "0:0:0:0:0:0:0:1",
		"::ffff:10.0.0.1":  "10.0.0.1",
		"2001:db8::a0:1":   "2001:db8:0:0:0:0:a0:1",
		"fe80::1%eth0":     "fe80:0:0:0:0:0:0:1%eth0",
		"1:2:3:4:5:6:7:89": "1:2:3:4:5:6:7:89",
	} {
		check.Equal(t, javaAddress(netip.MustParseAddr(addr)), want, "%s", addr)
	}
}
