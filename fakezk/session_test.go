package fakezk

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// inBubble runs a test of a server in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, Start(t)) })
}

// client returns a genuine client with the given session timeout, and a record of its session
// states.
func client(t *testing.T, s *Server, timeout time.Duration) (*zk.Conn, *states) {
	t.Helper()
	told := &states{}
	conn, _, err := zk.Connect([]string{Address}, timeout, zk.WithDialer(s.Dialer()),
		zk.WithHostProvider(&hostProvider{}),
		zk.WithLogger(zkclient.Quiet{}), zk.WithEventCallback(told.notice))
	check.OK(t, err)
	t.Cleanup(conn.Close)
	synctest.Wait()
	return conn, told
}

type states struct {
	mu   sync.Mutex
	list []zk.State
}

func (s *states) notice(ev zk.Event) {
	if ev.Type == zk.EventSession && ev.State != zk.StateConnecting &&
		ev.State != zk.StateConnected {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list = append(s.list, ev.State)
	}
}

func (s *states) take() []zk.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}

var openACL = zk.WorldACL(zk.PermAll)

func mustCreate(t *testing.T, c *zk.Conn, path string, flags int32) {
	t.Helper()
	if _, err := c.Create(path, nil, flags, openACL); err != nil {
		t.Fatalf("create %s: %v", path, err)
	}
}

func TestSessionExpiresWithinOneTickAfterItsTimeout(t *testing.T) {
	tests := []struct{ tick, timeout, wait time.Duration }{
		{2 * time.Second, 4 * time.Second, 0},
		{2 * time.Second, 10 * time.Second, 700 * time.Millisecond},
		{500 * time.Millisecond, time.Second, 499 * time.Millisecond},
		{500 * time.Millisecond, 1300 * time.Millisecond, 1},
		{time.Millisecond, 2 * time.Millisecond, 0},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.tick, test.timeout, test.wait), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Start(t, Options{TickTime: test.tick})
				time.Sleep(test.wait)
				rawSession(t, s, test.timeout)
				time.Sleep(test.timeout - 1)
				check.Equal(t, len(s.Sessions()), 1, "the session ended early")
				time.Sleep(test.tick + 1)
				synctest.Wait()
				check.Equal(t, len(s.Sessions()), 0,
					"the session still lives one tick after its timeout")
			})
		})
	}
}

func TestReconnectKeepsSessionEphemeralsAndWatches(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		c, told := client(t, s, 10*time.Second)
		id := c.SessionID()
		mustCreate(t, c, "/mine", zk.FlagEphemeral)
		mustCreate(t, c, "/data", 0)
		_, _, quietWatch, err := c.GetW("/mine")
		check.OK(t, err)
		watches := []<-chan zk.Event{}
		for _, arm := range []func() (<-chan zk.Event, error){
			func() (<-chan zk.Event, error) { _, _, ch, err := c.GetW("/data"); return ch, err },
			func() (<-chan zk.Event, error) {
				_, _, ch, err := c.ChildrenW("/data")
				return ch, err
			},
			func() (<-chan zk.Event, error) {
				_, _, ch, err := c.ExistsW("/data/child")
				return ch, err
			},
		} {
			ch, err := arm()
			check.OK(t, err)
			watches = append(watches, ch)
		}
		told.take()
		s.Stop()
		for _, path := range []string{"/data", "/data/child"} {
			mustDo(t, s.Put(path, []byte("new")))
		}
		s.Restart()
		var got []zk.EventType
		for _, ch := range watches {
			got = append(got, (<-ch).Type)
		}
		want := []zk.EventType{
			zk.EventNodeDataChanged, zk.EventNodeChildrenChanged, zk.EventNodeCreated,
		}
		check.List(t, got, want, "events")
		synctest.Wait()
		check.List(t, told.take(), []zk.State{
			zk.StateDisconnected, zk.StateHasSession,
		}, "was told")
		sessions := s.Sessions()
		if len(sessions) != 1 || sessions[0].ID != id ||
			!slices.Equal(sessions[0].Ephemerals, []string{"/mine"}) {
			t.Errorf("sessions: %+v", sessions)
		}
		if got := s.Watches(); len(got) != 1 || got[0] != (view.Watch{Path: "/mine", Session: id}) {
			t.Errorf("watches: %+v", got)
		}
		check.Equal(t, len(quietWatch), 0, "events of a watch on an unchanged node")
	})
}

func TestDropConnectionsOfOneSessionLeavesTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		a, aTold := client(t, s, 10*time.Second)
		_, bTold := client(t, s, 10*time.Second)
		aTold.take()
		bTold.take()
		s.DropConnections(a.SessionID())
		synctest.Wait()
		check.List(t, aTold.take(), []zk.State{
			zk.StateDisconnected, zk.StateHasSession,
		}, "a was told")
		if got := bTold.take(); len(got) > 0 {
			t.Errorf("b was told %v", got)
		}
	})
}

func TestExpiredClientIsToldAndGetsAnotherSession(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		c, told := client(t, s, 10*time.Second)
		id := c.SessionID()
		told.take()
		mustDo(t, s.ExpireSession(id))
		time.Sleep(2 * time.Second)
		want := []zk.State{zk.StateDisconnected, zk.StateExpired, zk.StateDisconnected,
			zk.StateHasSession}
		check.List(t, told.take(), want, "was told")
		if c.SessionID() == id || c.SessionID() == 0 {
			t.Errorf("session 0x%x after 0x%x", c.SessionID(), id)
		}
		if err := s.ExpireSession(id); err == nil {
			t.Error("a session that is gone expires once more")
		}
	})
}

// TestTimeoutIsNegotiatedBetween2And20Ticks by default. Package conform has more timeouts
// (families/sessions.txt).
func TestTimeoutIsNegotiatedBetween2And20Ticks(t *testing.T) {
	tests := []struct {
		opts        Options
		asked, want int32
	}{
		{Options{}, 10_000, 10_000}, {Options{}, 4_000, 4_000}, {Options{}, 3_999, 4_000},
		{Options{}, 40_001, 40_000},
		{Options{TickTime: 100 * time.Millisecond}, 10_000, 2_000},
		{Options{TickTime: 100 * time.Millisecond}, 1, 200},
		{Options{MinSessionTimeout: time.Second}, 1, 1_000},
		{Options{MaxSessionTimeout: time.Minute}, 100_000, 60_000},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			s := Start(t, test.opts)
			r := rawDial(t, s)
			check.Equal(t, r.handshake(
				proto.ConnectRequest{TimeoutMs: test.asked},
			).TimeoutMs, test.want, "%+v: asked for %d ms", test.opts, test.asked)
			check.Equal(t, s.Sessions()[0].Timeout, time.Duration(test.want)*time.Millisecond,
				"Sessions shows")
		})
	}
}

func TestStopRefusesAndRestartKeepsEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		c, told := client(t, s, 4*time.Second)
		id := c.SessionID()
		mustCreate(t, c, "/keep", 0)
		mustCreate(t, c, "/mine", zk.FlagEphemeral)
		tree := s.Tree()
		s.Stop()
		if _, err := s.Dialer()("", "", 0); err != ErrStopped {
			t.Errorf("dial: %v", err)
		}
		time.Sleep(time.Hour)
		if len(s.Sessions()) != 1 || s.Sessions()[0].Connected {
			t.Errorf("sessions of a stopped server: %+v", s.Sessions())
		}
		told.take()
		s.Restart()
		time.Sleep(2 * time.Second)
		if got := told.take(); !slices.Equal(got, []zk.State{zk.StateHasSession}) ||
			c.SessionID() != id {
			t.Errorf("was told %v, session 0x%x after 0x%x", got, c.SessionID(), id)
		}
		if got := s.Tree(); fmt.Sprint(got) != fmt.Sprint(tree) {
			t.Errorf("tree %+v, was %+v", got, tree)
		}
	})
}

func TestRestartOfARunningServerClosesConnections(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		r, _ := rawSession(t, s, 4*time.Second)
		time.Sleep(3 * time.Second)
		s.Restart()
		r.wantClosed()
		time.Sleep(3900 * time.Millisecond)
		check.Equal(t, len(s.Sessions()), 1, "the session did not get its full timeout again")
	})
}
