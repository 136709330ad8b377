package realworld_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// connectItself connects by TCP to the address of a client, as the client's own code may do. The
// channel gets a value each time that the session has expired.
func connectItself(c *realworld.Client, dial zk.Dialer) (*zk.Conn, <-chan struct{}) {
	expired := make(chan struct{}, 1)
	conn, _, err := zk.Connect([]string{c.Address()}, patient, zk.WithDialer(dial),
		zk.WithHostProvider(fakezk.HostProvider()), zk.WithLogger(zkclient.Quiet{}),
		zk.WithEventCallback(func(ev zk.Event) {
			if ev.State == zk.StateExpired {
				expired <- struct{}{}
			}
		}))
	if err != nil {
		panic(err) // only a wrong option of ours can do it
	}
	return conn, expired
}

// patient is a session timeout, in real time, that does not end by itself on a slow machine.
const patient = 10 * time.Second

// TestFaultsActOnOwnConnections: code of a client that connects by TCP itself meets the faults of
// the client, on each of its connections.
func TestFaultsActOnOwnConnections(t *testing.T) {
	t.Parallel()
	plan := []fault.Fault{
		{Kind: fault.DropReply, Client: "a", Op: "create", Path: "/own", Request: 1},
		{Kind: fault.Expire, Client: "a", Op: "getData", Path: "/own", Request: 1},
	}
	var lost, ended, again error
	var exists bool
	var before, after int64
	world := realWorld(startReal(t), plan, func(ctx context.Context, c *realworld.Client) {
		_, _, again = c.Conn().Exists("/") // so that there is a session
		before = c.Session()
		conn, expired := connectItself(c, net.DialTimeout)
		defer conn.Close()
		_, lost = conn.Create("/own", nil, zk.FlagEphemeral, openACL)
		exists, _, again = conn.Exists("/own")
		after = c.Session()
		_, _, ended = conn.Get("/own")
		await(ctx, expired)
	})
	world.Limit = time.Minute
	result := runReal(t, world)
	check.Is(t, lost, zk.ErrConnectionClosed, "the create whose reply is lost")
	check.OK(t, again)
	check.Equal(t, exists, true, "the node exists")
	check.Equal(t, ended != nil, true, "the request in an expired session fails")
	check.Equal(t, before != 0 && after == 0, true,
		"the session is unknown after the first own dial")
	wantNoNode(t, result, "/own")
}

// TestExpireEndsSessionsWithoutConnection: a session whose client is about to connect again expires
// with the others of the client.
func TestExpireEndsSessionsWithoutConnection(t *testing.T) {
	t.Parallel()
	const at = 10 * time.Second
	plan := []fault.Fault{{Kind: fault.Expire, Client: "a", At: at}}
	var made, other error
	var late bool
	world := realWorld(startReal(t), plan, func(ctx context.Context, c *realworld.Client) {
		var away atomic.Bool
		var own atomic.Pointer[net.Conn] // the newest connection
		conn, expired := connectItself(c, func(
			network, address string, timeout time.Duration,
		) (net.Conn, error) {
			if away.Load() {
				return nil, syscall.ECONNREFUSED
			}
			conn, err := net.DialTimeout(network, address, timeout)
			if err == nil {
				own.Store(&conn)
			}
			return conn, err
		})
		defer conn.Close()
		_, made = conn.Create("/own", nil, zk.FlagEphemeral, openACL)
		_, _, other = c.Conn().Exists("/") // in a newer session
		if late = c.Now() >= at; late {
			return
		}
		away.Store(true)
		check.OK(t, (*own.Load()).Close())
		check.OK(t, c.Sleep(ctx, at+time.Second-c.Now()))
		away.Store(false)
		await(ctx, expired)
	})
	world.Limit = time.Minute
	result := runReal(t, world)
	if late {
		t.Skip("the machine is too busy")
	}
	check.OK(t, errors.Join(made, other))
	wantNoNode(t, result, "/own")
}

// await waits for a value, or until ctx is done.
func await(ctx context.Context, c <-chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}

func wantNoNode(t *testing.T, result *trace.Result, path string) {
	t.Helper()
	for _, n := range result.Nodes {
		if n.Path == path {
			t.Errorf("%s has outlived its session", path)
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
		conn, _ := connectItself(c, func(
			network, address string, timeout time.Duration,
		) (net.Conn, error) {
			return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, address,
				&tls.Config{RootCAs: pool})
		})
		defer conn.Close()
		if _, _, err := conn.Exists("/"); err != nil {
			t.Error(err)
		}
		_, lost = conn.Create("/own", nil, 0, openACL)
	}))
	check.Is(t, lost, zk.ErrConnectionClosed, "the create whose reply is lost")
}
