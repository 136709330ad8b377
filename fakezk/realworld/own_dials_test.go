package realworld_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/internal/check"
)

// TestFaultsActOnOwnConnections: code of a client that connects by TCP itself meets the faults of
// the client, on each of its connections.
func TestFaultsActOnOwnConnections(t *testing.T) {
	t.Parallel()
	plan := []fault.Fault{
		{Kind: fault.DropReply, Client: "a", Op: "create", Path: "/own", Request: 1},
		{Kind: fault.Expire, Client: "a", At: 4 * time.Second},
	}
	var lost, again error
	var exists bool
	var before, after int64
	result := runReal(t, realWorld(startReal(t), plan,
		func(ctx context.Context, c *realworld.Client) {
			_, _, again = c.Conn().Exists("/") // so that there is a session
			before = c.Session()
			expired := make(chan struct{}, 1)
			conn, _, err := zk.Connect([]string{c.Address()}, time.Second,
				zk.WithHostProvider(fakezk.HostProvider()),
				zk.WithEventCallback(func(ev zk.Event) {
					if ev.State == zk.StateExpired {
						expired <- struct{}{}
					}
				}))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, lost = conn.Create("/own", nil, zk.FlagEphemeral, openACL)
			exists, _, again = conn.Exists("/own")
			after = c.Session()
			<-expired
		}))
	check.Is(t, lost, zk.ErrConnectionClosed, "the create whose reply is lost")
	check.OK(t, again)
	check.Equal(t, exists, true, "the node exists")
	check.Equal(t, before != 0 && after == 0, true,
		"the session is unknown after the first own dial")
	for _, n := range result.Nodes {
		if n.Path == "/own" {
			t.Error("the node has outlived its session")
		}
	}
}

// TestOwnConnectionsThroughTLS: the proxy answers TLS, and the real server gets plain requests.
func TestOwnConnectionsThroughTLS(t *testing.T) {
	t.Parallel()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(sim.RootCA())
	plan := []fault.Fault{{Kind: fault.DropReply, Client: "a", Op: "create", Path: "/own",
		Request: 1}}
	var lost error
	runReal(t, realWorld(startReal(t), plan, func(_ context.Context, c *realworld.Client) {
		conn, _, err := zk.Connect([]string{c.Address()}, 4*time.Second,
			zk.WithHostProvider(fakezk.HostProvider()),
			zk.WithDialer(func(network, address string, timeout time.Duration) (net.Conn, error) {
				return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, address,
					&tls.Config{RootCAs: pool})
			}))
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, _, err := conn.Exists("/"); err != nil {
			t.Error(err)
		}
		_, lost = conn.Create("/own", nil, 0, openACL)
	}))
	check.Is(t, lost, zk.ErrConnectionClosed, "the create whose reply is lost")
}
