package recipes

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/testconn"
)

// The tests of this file run against a real ensemble, and are skipped unless RECIPES_ENSEMBLE holds
// its servers ("127.0.0.1:2181"). Half of the clients lose their connection again and again, some
// replies with it. Under -race they can fail because of a race on lastZxid inside the client
// (samuel/go-zookeeper issue 260).
const ensembleVariable = "RECIPES_ENSEMBLE"

// cutConn closes itself after a number of writes, before or after the last.
type cutConn struct {
	net.Conn
	left  atomic.Int64
	after bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	left := c.left.Add(-1)
	if left == 0 && !c.after {
		return 0, c.Close()
	}
	n, err := c.Conn.Write(b)
	if left == 0 {
		return n, c.Close()
	}
	return n, err
}

// providers gives the servers in turn without the client's pause of a second.
type providers struct {
	servers []string
	next    int
}

func (p *providers) Init(servers []string) error { p.servers = servers; return nil }
func (p *providers) Len() int                    { return len(p.servers) }
func (p *providers) Connected()                  {}
func (p *providers) Next() (string, bool) {
	p.next++
	return p.servers[p.next%len(p.servers)], false
}

// ensemble connects to the real servers. With cuts the connection is cut after 3, 4, 5, ...
// requests in turn.
func ensemble(t *testing.T, cuts bool) *zk.Conn {
	t.Helper()
	servers := os.Getenv(ensembleVariable)
	if servers == "" {
		t.Skip(ensembleVariable + " is not set")
	}
	var dials atomic.Int64
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		conn, err := net.DialTimeout(network, address, timeout)
		if err != nil || !cuts {
			return conn, err
		}
		n := dials.Add(1)
		cut := &cutConn{Conn: conn, after: n%2 == 0}
		cut.left.Store(3 + n%11)
		return cut, nil
	}
	conn, _, err := zk.Connect(strings.Split(servers, ","), 10*time.Second,
		zk.WithDialer(dial), zk.WithHostProvider(&providers{}), zk.WithLogger(testconn.Silence{}))
	if err != nil {
		t.Fatalf("connect to %s: %v", servers, err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// testPath returns a path that no other run uses.
func testPath(t *testing.T) string {
	t.Helper()
	guid, err := newGUID()
	if err != nil {
		t.Fatal(err)
	}
	return "/recipes-test/" + guid
}

func TestEnsembleLocks(t *testing.T) {
	for _, kind := range []string{"Lock", "HerdLock"} {
		t.Run(kind, func(t *testing.T) {
			path := testPath(t)
			conns := []*zk.Conn{
				ensemble(t, true), ensemble(t, false), ensemble(t, true), ensemble(t, false),
			}
			var owners, last atomic.Int64
			var all sync.WaitGroup
			for i := range 8 {
				var l handleLocker = NewLock(conns[i%4], path+"/lock")
				if kind == "HerdLock" {
					l = NewHerdLock(conns[i%4], path+"/lock/node")
				}
				all.Go(func() {
					for range 20 {
						mustLock(t, l)
						if n := owners.Add(1); n != 1 {
							t.Errorf("%d owners", n)
						}
						if before := last.Swap(l.Token()); before >= l.Token() {
							t.Errorf("token %d after %d", l.Token(), before)
						}
						owners.Add(-1)
						mustUnlock(t, l)
					}
				})
			}
			all.Wait()
			names, _, err := conns[1].Children(path + "/lock")
			if err != nil || len(names) != 0 {
				t.Errorf("left: %v %v", names, err)
			}
		})
	}
}

func TestEnsembleQueue(t *testing.T) {
	path := testPath(t)
	conns := []*zk.Conn{ensemble(t, true), ensemble(t, false), ensemble(t, true), ensemble(t, true)}
	taken := make(chan string, 400)
	var all sync.WaitGroup
	for i := range 4 {
		q := NewQueue(conns[i], path)
		all.Go(func() {
			for n := range 50 {
				mustOffer(t, q, fmt.Sprintf("%d-%d", i, n))
			}
		})
		all.Go(func() {
			for range 50 {
				data, err := q.Take(t.Context())
				if err != nil {
					t.Errorf("Take: %v", err)
				}
				taken <- string(data)
			}
		})
	}
	all.Wait()
	close(taken)
	seen := map[string]int{}
	for e := range taken {
		if seen[e]++; seen[e] > 1 {
			t.Errorf("%s taken twice", e)
		}
	}
	if len(seen) != 200 {
		t.Errorf("%d of 200 elements", len(seen))
	}
	for _, dir := range []string{"items", "dedup", "claims"} {
		names, _, err := conns[1].Children(path + "/" + dir)
		if err != nil || len(names) != 0 {
			t.Errorf("left in %s: %v %v", dir, names, err)
		}
	}
}

func TestEnsembleClosedConn(t *testing.T) {
	conn := ensemble(t, false)
	l := NewLock(conn, testPath(t))
	mustLock(t, l)
	conn.Close()
	<-l.Lost()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := l.Lock(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("Lock on a closed connection: %v", err)
	}
}
