//go:build zksim_overlay

package sim

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// service is ordinary code: it dials by the name of a host, and holds a mutex over its requests.
type service struct {
	mu   sync.Mutex
	conn *zk.Conn
}

func openService(t *testing.T) *service {
	conn, _, err := zk.Connect([]string{"zk1.prod.example:2181", "zk2.prod.example:2181"},
		10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Error(err)
	}
	return &service{conn: conn}
}

func (s *service) put(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Create(path, nil, 0, worldACL)
	return err
}

// TestTimersOfOneInstantFireInTheOrderOfTheSeed: Go gives the timers of a bubble that fire at one
// instant a random order.
func TestTimersOfOneInstantFireInTheOrderOfTheSeed(t *testing.T) {
	woken := func(seed uint64) string {
		script := func(_ context.Context, c *Client) {
			var all sync.WaitGroup
			var order []string
			for i := range 8 {
				all.Go(func() {
					time.Sleep(time.Millisecond)
					order = append(order, fmt.Sprint(i))
				})
			}
			for i := range 8 {
				all.Add(1)
				time.AfterFunc(2*time.Millisecond, func() {
					order = append(order, fmt.Sprint("f", i))
					all.Done()
				})
			}
			all.Wait()
			c.Note("%s", strings.Join(order, " "))
		}
		return mustRun(t, World{Seed: seed, Clients: []Actor{{Name: "a", Run: script}}}).Trace.String()
	}
	want := woken(1)
	for range 20 {
		check.Equal(t, woken(1), want, "the run")
	}
	if woken(2) == want {
		t.Error("another seed gives the same order")
	}
}

// processWide are mutexes that several Worlds and the rest of the process use, as in a logger.
var processWide struct {
	sync.Mutex
	table  sync.RWMutex
	logged int // guarded by Mutex
	known  int // guarded by table
}

// logging is the trace of a World whose goroutines use the mutexes of the process, some at one
// instant.
func logging(t *testing.T) string {
	script := func(ctx context.Context, c *Client) {
		var all sync.WaitGroup
		var order []string
		for i := range 6 {
			all.Go(func() {
				for n := range 40 {
					switch (i + n) % 5 {
					case 0, 1:
						processWide.Lock()
					case 2:
						if !processWide.TryLock() {
							t.Error("a mutex that nobody in the World holds is not free")
							return
						}
					case 3:
						processWide.table.RLock()
						order = append(order, fmt.Sprint(i, ".", n))
						processWide.table.RUnlock()
						continue
					case 4:
						processWide.table.Lock()
						processWide.known++
						order = append(order, fmt.Sprint(i, ".", n))
						processWide.table.Unlock()
						continue
					}
					processWide.logged++
					order = append(order, fmt.Sprint(i, ".", n))
					processWide.Unlock()
					if n%4 == 0 {
						runtime.Gosched()
					}
					if n%7 == 0 {
						time.Sleep(time.Millisecond)
					}
				}
			})
		}
		all.Wait()
		c.Note("%s", strings.Join(order, " "))
	}
	r := mustRun(t, World{Seed: 1, Clients: []Actor{{Name: "a", Run: script},
		{Name: "b", Run: script}}})
	check.Equal(t, len(r.Panics)+len(r.Leaked)+len(r.Frozen)+len(r.Busy), 0,
		"%s panics %v leaked %s frozen %s", r.Trace, r.Panics, r.Leaked, r.Frozen)
	return r.Trace.String()
}

// busyWith keeps the mutexes of the process busy until stop.
func busyWith(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		processWide.Lock()
		for range 1000 {
			processWide.logged++
		}
		processWide.Unlock()
		processWide.table.RLock()
		runtime.Gosched()
		processWide.table.RUnlock()
		processWide.table.Lock()
		for range 1000 {
			processWide.known++
		}
		processWide.table.Unlock()
	}
}

// TestMutexesOfTheProcessDoNotChangeARun: whether a mutex of the process is held elsewhere just now
// is chance, and decides nothing.
func TestMutexesOfTheProcessDoNotChangeARun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	want := logging(t)
	stop := make(chan struct{})
	var rest, worlds sync.WaitGroup
	for range 2 {
		rest.Go(func() { busyWith(stop) })
	}
	for range 4 {
		worlds.Go(func() {
			for range 40 {
				if got := logging(t); got != want {
					t.Errorf("two runs differ: %s", cmp.Diff(want, got))
					return
				}
			}
		})
	}
	worlds.Wait()
	close(stop)
	rest.Wait()
}

// net.Dial outside of a World is as always.
func TestDialsOutsideOfAWorldReachTheNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	check.OK(t, err)
	conn.Close()
}

// secured is the trace of a World whose client dials through TLS, as the libraries do that can: by
// tls.DialWithDialer, and by tls.Client on a connection of net.DialTimeout.
func secured(t *testing.T, plan ...fault.Fault) string {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(RootCA())
	dialers := []zk.Dialer{
		func(network, address string, timeout time.Duration) (net.Conn, error) {
			return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, address,
				&tls.Config{RootCAs: pool})
		},
		func(network, address string, timeout time.Duration) (net.Conn, error) {
			conn, err := net.DialTimeout(network, address, timeout)
			if err != nil {
				return nil, err
			}
			names, err := net.LookupAddr("127.0.0.1")
			if err == nil {
				return nil, fmt.Errorf("127.0.0.1 has the names %v", names)
			}
			secure := tls.Client(conn, &tls.Config{RootCAs: pool, ServerName: "zk1.prod.example"})
			return secure, secure.Handshake()
		},
	}
	w := World{Seed: 1, Plan: plan, Clients: []Actor{{Name: "a",
		Run: func(_ context.Context, c *Client) {
			for i, dialer := range dialers {
				conn, _, err := zk.Connect([]string{"zk1.prod.example:2281"}, 10*time.Second,
					zk.WithDialer(dialer), zk.WithLogInfo(false))
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					_, err := conn.Create(fmt.Sprintf("/%d-", i), nil, zk.FlagSequence,
						worldACL)
					c.Note("create: %v", err)
				}
				c.Sleep(context.Background(), time.Minute) // pings
				conn.Close()
			}
		}}}}
	r := mustRun(t, w)
	if len(r.Panics)+len(r.Leaked)+len(r.Frozen)+len(r.Busy)+len(r.Missed) > 0 {
		t.Errorf("%s\npanics %v\nleaked %s\nfrozen %s\nmissed %v", r.Trace, r.Panics, r.Leaked,
			r.Frozen,
			r.Missed)
	}
	if len(r.Nodes) < 6 || len(r.SessionClient) < 2 {
		t.Errorf("nodes %v, sessions %v\n%s", r.Nodes, r.SessionClient, r.Trace)
	}
	return r.Trace.String()
}

func TestCodeThatDialsThroughTLS(t *testing.T) {
	for _, plan := range [][]fault.Fault{
		nil,
		{{Kind: fault.DropReply, Client: "a", Op: "create", Request: 2}},
		{{Kind: fault.CutMidFrame, Client: "a", Op: "create", Request: 2}},
		{{Kind: fault.Stall, Client: "a", Op: "create", Request: 2, For: time.Second}},
		{{Kind: fault.Refuse, Client: "a", Op: "create", Request: 2, For: time.Second}},
		{{Kind: fault.Blackhole, Client: "a", Op: "create", Request: 2, For: time.Second}},
		{{Kind: fault.Restart, At: 20 * time.Second, For: time.Second}},
	} {
		want := secured(t, plan...)
		for range 5 {
			if got := secured(t, plan...); got != want {
				t.Errorf("%v: two runs differ: %s", plan, cmp.Diff(want, got))
			}
		}
	}
}

// TestOwnConnectionsAreKnown: the trace and the notices tell what happens to the session that a
// client's own code has, as for a session of Connect. A Conn without requests tells nothing.
func TestOwnConnectionsAreKnown(t *testing.T) {
	w := World{
		Plan: []fault.Fault{
			{Kind: fault.DropReply, Client: "a", Op: "create", Request: 1},
			{Kind: fault.Expire, Client: "a", At: 20 * time.Second},
		},
		Clients: []Actor{{Name: "a", Run: func(ctx context.Context, c *Client) {
			c.Conn()
			c.Sleep(ctx, time.Second)
			s := openService(t)
			c.Note("%v", s.put("/x"))
			c.Sleep(ctx, time.Minute)
			s.conn.Close()
		}}},
	}
	r := mustRun(t, w)
	var told []string
	for _, n := range r.Notices {
		told = append(told, string(n.Kind))
	}
	const want = "connected connected disconnected connected disconnected session-expired connected"
	check.Equal(t, strings.Join(told, " "), want, "told %s", r.Trace)
	check.Equal(t, len(r.SessionClient), 4, "sessions %v", r.SessionClient)
}

// TestCodeThatDialsByItselfReachesAllServers, each by its address, and one of them by any other: an
// application that never reads from a follower would never see the past.
func TestCodeThatDialsByItselfReachesAllServers(t *testing.T) {
	reached := func(address string) (servers map[string]bool) {
		w := World{Servers: 3, Clients: []Actor{{Name: "a", Run: func(ctx context.Context,
			c *Client) {
			for range 12 {
				conn, err := net.Dial("tcp", address)
				check.OK(t, err)
				conn.Close()
			}
		}}}}
		r := mustRun(t, w)
		servers = map[string]bool{}
		for _, m := range regexp.MustCompile(`connects to (server \d+)`).FindAllStringSubmatch(
			r.Trace.String(), -1) {
			servers[m[1]] = true
		}
		return servers
	}
	check.Equal(t, len(reached(Address)), 3)
	check.Equal(t, len(reached("zk.prod.example:2181")), 3)
	check.Equal(t, fmt.Sprint(reached("127.0.0.1:2183")), "map["+serverName(2)+":true]")
}
