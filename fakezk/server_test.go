package fakezk

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

func TestStartAndConnectInsideAUsersBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := Start(t).Connect(t)
		mustCreate(t, conn, "/hello", zk.FlagEphemeral)
		time.Sleep(time.Hour)
		if exists, _, err := conn.Exists("/hello"); !exists || err != nil {
			t.Errorf("exists: %v, %v", exists, err)
		}
	}) // synctest panics if a goroutine of server or client stays behind
}

func TestConnectToAStoppedServerFailsTheTest(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		s.Stop()
		said := new(testRecord).play(func(tb TB) { s.Connect(tb) })
		check.Contains(t, said, "no session after 1m0s")
		said = new(testRecord).play(func(tb TB) { Start(tb, Options{}, Options{}) })
		check.Contains(t, said, "at most one Options")
	})
}

func TestCloseTwiceAndUseAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		r, _ := rawSession(t, s, 4*time.Second)
		for range 2 {
			mustDo(t, s.Close())
		}
		r.wantClosed()
		s.Restart()
		if _, err := s.dial(); err != ErrStopped {
			t.Errorf("dial: %v", err)
		}
		time.Sleep(time.Hour) // no timer is left
	})
}

func TestMaxFrameOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Start(t, Options{MaxFrame: 100})
		c, _ := client(t, s, 10*time.Second)
		mustCreate(t, c, "/x", 0)
		if _, err := c.Set("/x", make([]byte, 100), -1); err != zk.ErrConnectionClosed {
			t.Errorf("set: %v", err)
		}
	})
}

func TestDirectCalls(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		c, _ := client(t, s, 10*time.Second)
		_, _, children, err := c.ChildrenW("/")
		check.OK(t, err)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		must(s.Put("/a/b/c", []byte("one")))
		check.Equal(t, (<-children).Type, zk.EventNodeChildrenChanged, "event")
		_, _, data, err := c.GetW("/a/b/c")
		must(err)
		if got := s.Watches(); len(got) != 1 ||
			got[0] != (view.Watch{Path: "/a/b/c", Session: c.SessionID()}) {
			t.Errorf("watches: %+v", got)
		}
		must(s.Put("/a/b/c", []byte("two")))
		check.Equal(t, (<-data).Type, zk.EventNodeDataChanged, "event")
		var got []string
		for _, n := range s.Tree() {
			got = append(got, fmt.Sprintf("%s=%q v%d", n.Path, n.Data, n.Version))
		}
		check.Equal(t, fmt.Sprint(got), `[/="" v0 /a="" v0 /a/b="" v0 /a/b/c="two" v1]`, "tree %s",
			got)
		for _, bad := range []string{"", "a", "/a/", "/a//b", "/.."} {
			if err := s.Put(bad, nil); err == nil {
				t.Errorf("Put(%q) is fine?", bad)
			}
		}
		must(s.Remove("/a/b"))
		must(s.Remove("/none"))
		check.Equal(t, len(s.Tree()), 2, "tree %+v", s.Tree())
		mustCreate(t, c, "/mine", zk.FlagEphemeral)
		must(s.Remove("/"))
		if len(s.Tree()) != 1 || len(s.Sessions()[0].Ephemerals) > 0 {
			t.Errorf("tree %+v, sessions %+v", s.Tree(), s.Sessions())
		}
	})
}

func TestTwoServersShareNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Start(t), Start(t)
		mustDo(t, a.Put("/only-a", nil))
		check.Equal(t, len(b.Tree()), 1, "tree of b: %+v", b.Tree())
	})
}
