package fakezk

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/memnet"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/internal/check"
)

// BenchmarkStart measures the start of a unit test: a server, a client, the first node.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		s := New(Options{})
		c := benchClient(b, s.Dialer())
		if _, err := c.Create("/first", nil, 0, openACL); err != nil {
			b.Fatal(err)
		}
		c.Close()
		check.OK(b, s.Close())
	}
}

// BenchmarkRequests sends requests of one client, one after the other, to the server. BenchmarkEcho
// does the same with only the connection and the client's own work. The difference is the cost of
// the server.
func BenchmarkRequests(b *testing.B) {
	requests(b, serverDial(b, Options{}))
}

func BenchmarkEcho(b *testing.B) { requests(b, echoDial) }

// BenchmarkFloor is what no simulation can be faster than: the client and the scheduler alone, with
// as many requests as a scenario of a lock has (BenchmarkScenario of fuzz/scenario), one after the
// other, which the echo answers at once.
func BenchmarkFloor(b *testing.B) {
	const clients, each = 4, 29
	for b.Loop() {
		failure := bubble.Run(1, func() {
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					c, _ := zkclient.Connect(DefaultSessionTimeout, benchOptions(echoDial))
					defer c.Close()
					for range each {
						if _, _, err := c.Exists("/node"); err != nil {
							panic(err)
						}
					}
				})
			}
			all.Wait()
		})
		if failure != nil {
			b.Fatal(failure)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
}

// benchmarked are requests with a Stat as reply, which an echo can make up.
var benchmarked = []struct {
	name string
	ask  func(*zk.Conn) error
}{
	{"exists", func(c *zk.Conn) error { _, _, err := c.Exists("/node"); return err }},
	{"set", func(c *zk.Conn) error { _, err := c.Set("/node", []byte("data"), -1); return err }},
}

func requests(b *testing.B, dial zk.Dialer) {
	for _, r := range benchmarked {
		b.Run(r.name, func(b *testing.B) {
			c := benchClient(b, dial)
			defer c.Close()
			for b.Loop() {
				check.OK(b, r.ask(c))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// BenchmarkServerShare reports how much longer a request takes with the server than with the echo.
func BenchmarkServerShare(b *testing.B) {
	share(b, serverDial(b, Options{}), echoDial, "server/echo")
}

// BenchmarkEnsembleShare reports how much longer a request takes with three servers than with one.
func BenchmarkEnsembleShare(b *testing.B) {
	share(b, serverDial(b, Options{Servers: 3}), serverDial(b, Options{}), "three/one")
}

func serverDial(b *testing.B, opts Options) zk.Dialer {
	s := New(opts)
	b.Cleanup(func() { check.OK(b, s.Close()) })
	check.OK(b, s.Put("/node", []byte("data")))
	return s.Dialer()
}

// share asks two far ends in turns, and reports the ratio of the times.
func share(b *testing.B, one, other zk.Dialer, unit string) {
	for _, r := range benchmarked {
		b.Run(r.name, func(b *testing.B) {
			clients := []*zk.Conn{benchClient(b, one), benchClient(b, other)}
			var took [2]time.Duration
			for range b.N {
				for i, c := range clients {
					began := time.Now()
					check.OK(b, r.ask(c))
					took[i] += time.Since(began)
				}
			}
			b.ReportMetric(float64(took[0])/float64(took[1]), unit)
			clients[0].Close()
			clients[1].Close()
		})
	}
}

func benchClient(b *testing.B, dial zk.Dialer) *zk.Conn {
	b.Helper()
	connected := make(chan struct{}, 1)
	c, _, err := zk.Connect([]string{Address}, DefaultSessionTimeout, benchOptions(dial),
		zk.WithEventCallback(func(ev zk.Event) {
			if ev.State == zk.StateHasSession {
				connected <- struct{}{}
			}
		}))
	check.OK(b, err)
	<-connected
	return c
}

func benchOptions(dial zk.Dialer) func(*zk.Conn) {
	provider := &hostProvider{}
	_ = provider.Init([]string{Address})
	return func(c *zk.Conn) {
		zk.WithDialer(dial)(c)
		zk.WithHostProvider(provider)(c)
		zk.WithLogger(zkclient.Quiet{})(c)
		zk.WithLogInfo(false)(c)
		zk.WithMaxBufferSize(64 << 10)(c)
		zk.WithMaxConnBufferSize(64 << 10)(c)
	}
}

// echoDial connects to a far end that answers everything with the same empty
// stat, and a handshake with session 1.
func echoDial(string, string, time.Duration) (net.Conn, error) {
	var c *memnet.Conn
	frames := wire.Splitter{Max: wire.DefaultMaxFrame}
	greeted := false
	var buf []byte
	answer := func(frame []byte) {
		if !greeted {
			greeted = true
			c.Deliver(wire.AppendConnectResponse(nil,
				proto.ConnectResponse{TimeoutMs: 10_000, SessionID: 1, Password: make([]byte, 16)}))
			return
		}
		h, _, err := wire.DecodeHeader(frame)
		if err != nil {
			panic(err)
		}
		buf = wire.AppendReply(buf[:0], proto.ReplyHeader{Xid: h.Xid, Zxid: 1}, proto.StatReply{})
		c.Deliver(buf)
	}
	c = memnet.New(func(p []byte) {
		if err := frames.Feed(p, answer); err != nil {
			panic(err)
		}
	}, func() {})
	return c, nil
}
