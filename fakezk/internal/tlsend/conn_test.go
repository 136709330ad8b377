package tlsend

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/zksim/zksim/internal/check"
)

// trusting is a client's configuration that accepts the certificates of this package for a host.
func trusting(t *testing.T, host string) *tls.Config {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(RootCA()) {
		t.Fatal("no certificate in the PEM")
	}
	return &tls.Config{RootCAs: pool, ServerName: host}
}

// echo returns a connection that a client has dialed by host; the server returns what it gets.
func echo(host string) (c *Conn, closed chan struct{}) {
	closed = make(chan struct{})
	c = New(host, func(p []byte) { c.Deliver(p) }, func() { close(closed) })
	return c, closed
}

func TestBothKindsOfClientsAreAnswered(t *testing.T) {
	tests := []struct {
		name, dialed string
		wrap         func(net.Conn) net.Conn
		secure       bool
	}{
		{"plain", "zk1.example", func(c net.Conn) net.Conn { return c }, false},
		{"a name", "127.0.0.1", func(c net.Conn) net.Conn {
			return tls.Client(c, trusting(t, "zk1.example"))
		}, true},
		{"the dialed address", "192.0.2.7", func(c net.Conn) net.Conn {
			return tls.Client(c, trusting(t, "192.0.2.7"))
		}, true},
		{"TLS 1.2", "zk1.example", func(c net.Conn) net.Conn {
			config := trusting(t, "zk1.example")
			config.MaxVersion = tls.VersionTLS12
			return tls.Client(c, config)
		}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end, closed := echo(test.dialed)
				client := test.wrap(end)
				_, err := client.Write([]byte{0, 0, 0, 4, 'r', 'u', 'o', 'k'})
				check.OK(t, err)
				got := make([]byte, 8)
				_, err = io.ReadFull(client, got)
				check.OK(t, err)
				check.Equal(t, string(got[4:]), "ruok", "the answer")
				check.Equal(t, end.Secure(), test.secure, "TLS")
				check.OK(t, client.Close())
				<-closed
			})
		})
	}
}

func TestAStrangerIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, config := range []*tls.Config{
			{ServerName: "zk1.example"}, // it does not know the authority
			trusting(t, "zk2.example"),
		} {
			end, closed := echo("zk1.example")
			if config.RootCAs != nil { // it expects another host than the one that it names
				config.InsecureSkipVerify = true
				config.VerifyConnection = func(s tls.ConnectionState) error {
					return s.PeerCertificates[0].VerifyHostname("zk3.example")
				}
			}
			client := tls.Client(end, config)
			if err := client.Handshake(); err == nil {
				t.Error("the handshake succeeds")
			}
			check.OK(t, client.Close())
			<-closed
		}
	})
}

func TestTheServerEndsAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end, closed := echo("zk1.example")
		client := tls.Client(end, trusting(t, "zk1.example"))
		check.OK(t, client.Handshake())
		end.Fail(syscall.ECONNRESET)
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v; expected a reset", err)
		}
		synctest.Wait()
		select {
		case <-closed:
			t.Error("the server is told of its own act")
		default:
		}
	})
}

func TestAcceptOverTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	defer l.Close()
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			server, err := Accept(conn, "zk1.example")
			if err == nil {
				_, err = io.Copy(server, server)
			}
			if err != nil {
				t.Error(err)
			}
			_ = conn.Close()
		}
	}()
	for _, secure := range []bool{false, true} {
		client, err := net.Dial("tcp", l.Addr().String())
		check.OK(t, err)
		if secure {
			client = tls.Client(client, trusting(t, "zk1.example"))
		}
		_, err = client.Write([]byte("hello"))
		check.OK(t, err)
		got := make([]byte, 5)
		_, err = io.ReadFull(client, got)
		check.OK(t, err)
		check.Equal(t, string(got), "hello", "the echo")
		check.OK(t, client.Close())
	}
}
