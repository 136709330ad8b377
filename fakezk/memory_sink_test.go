package fakezk

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// A config is a service as users test it: it keeps a watch on a node and reads others all the time.
type config struct {
	conn    *zk.Conn
	watched chan string // values seen by the watching goroutine
	stop    chan struct{}
	working sync.WaitGroup
}

func startConfig(conn *zk.Conn) *config {
	c := &config{conn: conn, watched: make(chan string), stop: make(chan struct{})}
	c.working.Go(c.watch)
	for range 2 {
		c.working.Go(c.read)
	}
	return c
}

func (c *config) stopped() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

func (c *config) watch() {
	for !c.stopped() {
		data, _, changed, err := c.conn.GetW("/config")
		if err != nil {
			continue // the connection is lost for a moment
		}
		select {
		case c.watched <- string(data):
		case <-c.stop:
		}
		select {
		case <-changed:
		case <-c.stop:
		}
	}
}

func (c *config) read() {
	for !c.stopped() {
		if _, _, err := c.conn.Exists("/"); err != nil && !errors.Is(err, zk.ErrConnectionClosed) {
			return
		}
	}
}

// isReattached reports whether a client has come through sendSetWatches, which it also calls on its
// first connection, without a watch: then no server can know when.
func isReattached(conn *zk.Conn) bool {
	for stack := range strings.SplitSeq(bubble.Stacks(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf("zk.(*Conn).loop(%p", conn)) {
			return strings.Contains(stack, "[sync.WaitGroup.Wait")
		}
	}
	return false
}

// When Connect returns in a bubble, the client is through sendSetWatches, so that no reply to a
// first request races with it.
func TestConnectReturnsAClientAtRest(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			check.Equal(t, isReattached(Start(t).Connect(t)), true, "the client's loop waits")
		})
	}
}

// The client reads its last zxid, without a lock, while it collects its watches for setWatches. A
// reply that comes meanwhile writes it: a data race, which fails a test under the race detector.
func TestLostConnectionsAreNoRaceOfTheClient(t *testing.T) {
	for range testrun.Pick(10, 1000) {
		s := New(Options{})
		conn := s.Connect(t)
		if _, err := conn.Create("/config", []byte("0"), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		await(t, "the client's loop", func() bool { return isReattached(conn) })
		c := startConfig(conn)
		<-c.watched
		for _, value := range []string{"1", "2", "3"} {
			s.DropConnections()
			mustDo(t, s.Put("/config", []byte(value)))
			select {
			case got := <-c.watched:
				if got != value {
					t.Fatalf("watched %q, want %q", got, value)
				}
			case <-time.After(time.Minute): // the event is lost
				t.Fatalf("no event of the change to %q", value)
			}
		}
		close(c.stop)
		conn.Close()
		c.working.Wait()
		mustDo(t, s.Close())
	}
}

// After a reconnect replies wait for setWatches if the client may hold watches, and they keep their
// order. They wait longer if it surely holds one: a client on a busy machine may be late.
func TestRepliesWaitForSetWatches(t *testing.T) {
	exists, end := &proto.Exists{Path: "/"}, &proto.Simple{Code: proto.OpCloseSession}
	set := &proto.SetWatches{Code: proto.OpSetWatches, DataWatches: []string{"/"}}
	for _, test := range []struct {
		name   string
		lives  int // connections before
		before func(s *Server, r *rawClient)
		send   []proto.Request
		wait   time.Duration
	}{
		{"no watch", 1, noWatch, []proto.Request{exists, exists}, 0},
		{"no setWatches", 1, watchRoot, []proto.Request{exists, ping, exists}, surePatience},
		{"setWatches first", 1, watchRoot, []proto.Request{set, exists}, 0},
		{"setWatches last", 1, watchRoot, []proto.Request{exists, ping, set}, 0},
		{"the end of the session", 1, watchRoot, []proto.Request{exists, end}, surePatience},
		{"a reply not read", 1, askForWatch, []proto.Request{exists}, watchPatience},
		{"an event not read", 1, missEvent, []proto.Request{exists}, watchPatience},
		{"an event lost by a fault", 1, loseEvent, []proto.Request{exists}, surePatience},
		{"an event read", 1, readEvent, []proto.Request{exists}, 0},
		{"two connections later", 2, watchOnce(), []proto.Request{exists}, surePatience},
	} {
		inBubble(t, func(t *testing.T, s *Server) {
			r, session := rawSession(t, s, 4*time.Second)
			for range test.lives {
				test.before(s, r)
				mustDo(t, r.Close())
				r = rawDial(t, s)
				r.handshake(proto.ConnectRequest{
					TimeoutMs: 4000, SessionID: session.SessionID, Password: session.Password,
				})
			}
			began := time.Now()
			for i, req := range test.send {
				r.send(wire.AppendRequest(nil, int32(i), req))
			}
			for i, req := range test.send {
				if h, _ := r.reply(); h.Xid != int32(i) && req != ping {
					t.Errorf("%s: reply to %d, want %d", test.name, h.Xid, i)
				}
				if req == end {
					r.wantClosed()
				}
			}
			check.Equal(t, time.Since(began), test.wait, "%s: waited", test.name)
		})
	}
}

func noWatch(*Server, *rawClient) {}

func watchRoot(_ *Server, r *rawClient) { r.mustCall(&proto.Exists{Path: "/", Watch: true}) }

func askForWatch(_ *Server, r *rawClient) {
	r.send(wire.AppendRequest(nil, 1, &proto.Exists{Path: "/", Watch: true}))
}

func missEvent(s *Server, r *rawClient) {
	watchRoot(s, r)
	mustDo(r.t, s.Put("/", []byte("x")))
}

func loseEvent(s *Server, r *rawClient) {
	mustDo(r.t, s.Inject(fault.Fault{Kind: fault.Cut, Event: 1}))
	missEvent(s, r)
}

func readEvent(s *Server, r *rawClient) {
	missEvent(s, r)
	r.receive()
}

// watchOnce returns a function that is watchRoot on the first call, and then does nothing.
func watchOnce() func(*Server, *rawClient) {
	var done bool
	return func(s *Server, r *rawClient) {
		if !done {
			watchRoot(s, r)
		}
		done = true
	}
}
