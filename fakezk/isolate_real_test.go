package fakezk

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// partition is a network between the servers of a real ensemble, from which one server can be cut
// off: then what it sends and gets is held.
type partition struct {
	t   *testing.T
	mu  sync.Mutex
	cut int // number of the server from 0, -1 for none
}

// between returns the port of a proxy from one server to another.
func (d *partition) between(from, to, port int) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(d.t, err)
	d.t.Cleanup(func() { _ = l.Close() }) // the test is over
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			go d.join(from, to, a, port)
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func (d *partition) join(from, to int, a net.Conn, port int) {
	defer a.Close()
	d.waitForBridge(from, to)
	b, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return
	}
	defer b.Close()
	ends := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() {
			d.forward(from, to, way[0], way[1])
			ends <- struct{}{}
		}()
	}
	<-ends
}

func (d *partition) forward(from, to int, r io.Reader, w io.Writer) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		d.waitForBridge(from, to)
		if n > 0 {
			_, _ = w.Write(buf[:n]) // a failure shows at the next read
		}
		if err != nil {
			return
		}
	}
}

func (d *partition) waitForBridge(from, to int) {
	for {
		d.mu.Lock()
		together := d.cut != from && d.cut != to
		d.mu.Unlock()
		if together {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (d *partition) isolate(server int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut = server
}

// TestARealServerThatIsIsolated does what fault.Isolate says, as a follower and as the leader: it
// answers reads with old data and no writes, as the leader also syncs, and keeps its clients, also
// those whose sessions the leader has ended.
func TestARealServerThatIsIsolated(t *testing.T) {
	if !testrun.Full() {
		t.Skip("a real ensemble takes half a minute; -full plays it")
	}
	for _, leads := range []bool{false, true} {
		d := &partition{t: t, cut: -1}
		servers := realzk.StartEnsemble(t, 3, realzk.Options{Between: d.between})
		leader := leaderOf(t, servers)
		isolated, other := leader, (leader+1)%3
		if !leads {
			isolated, other = other, leader
		}
		at, beside := realConn(t, servers[isolated]), realConn(t, servers[other])
		_, err := at.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		check.OK(t, err)
		_, err = beside.Sync("/e")
		check.OK(t, err)
		session := at.SessionID()

		d.isolate(isolated)
		time.Sleep(2500 * time.Millisecond) // five ticks: a session of two has ended
		exists, _, err := at.Exists("/e")
		check.OK(t, err)
		check.Equal(t, exists && at.SessionID() == session, true, "leads %t: its read", leads)
		exists, _, err = beside.Exists("/e")
		check.OK(t, err)
		check.Equal(t, exists, leads, "leads %t: the node beside", leads)
		if leads {
			_, err = at.Sync("/e") // it asks nobody
			check.OK(t, err)
		}
		if _, err = at.Create("/w", nil, 0, zk.WorldACL(zk.PermAll)); err == nil {
			t.Errorf("leads %t: the write is answered", leads)
		}
	}
}

// realConn is a client with the shortest session.
func realConn(t *testing.T, s *realzk.Server) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{s.Address()}, time.Second, zk.WithLogInfo(false))
	check.OK(t, err)
	t.Cleanup(conn.Close)
	_, _, err = conn.Exists("/")
	check.OK(t, err)
	return conn
}

// leaderOf is the number of the leader from 0.
func leaderOf(t *testing.T, servers []*realzk.Server) int {
	t.Helper()
	for i, s := range servers {
		conn, err := net.Dial("tcp", s.Address())
		check.OK(t, err)
		_, err = conn.Write([]byte("srvr"))
		check.OK(t, err)
		text, err := io.ReadAll(conn)
		check.OK(t, err)
		_ = conn.Close() // it is over anyway
		if strings.Contains(string(text), "Mode: leader") {
			return i
		}
	}
	t.Fatal("no leader")
	return 0
}
