package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/task"
)

// aView has the common methods of all views of the server.
type aView interface {
	Stale() bool
	Err() error
	Close(context.Context) error
}

// TestViewsDoNotGoBack when the server of a new session lags behind, at whatever request the
// session ends.
func TestViewsDoNotGoBack(t *testing.T) {
	for _, op := range []string{"none", "childrenW", "children", "getW", "get", "existsW", "sync"} {
		for nth := 1; nth <= 3; nth++ {
			t.Run(fmt.Sprint(op, nth), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) { viewsDoNotGoBack(t, s, op, nth) })
			})
		}
	}
}

func viewsDoNotGoBack(t *testing.T, s *testServer, op string, nth int) {
	a, view := s.Connect(), s.Connect()
	s.Seed("/s", "")
	s.Seed("/s/web", "")
	g, v := NewGroup(view, "/s/web", RecheckEvery(time.Second)), NewServiceRegistry(view, "/s")
	c := readyCache(t, NewTreeCache(view, "/s", RecheckEvery(time.Second)))
	wantMembers(t, g)
	old := s.Copy()
	a.Seed("/s/web/a", "1")
	wantMembers(t, g, "a")
	wantServices(t, v, "web/a=1")
	news, changed, changedAll := c.Changes(), g.Changed(), v.Changed()
	newsOf(news)
	if op == "none" {
		view.FallBehind(old)
	} else {
		view.On(op, nth, rule{Before: func() { view.FallBehind(old) }})
	}
	time.Sleep(10 * time.Second)
	if closed(changed) || closed(changedAll) || newsOf(news) != "" {
		t.Errorf("changed: group %v, registry %v, cache %v", closed(changed), closed(changedAll),
			newsOf(news))
	}
	mustClose(t, g, v, c)
}

// TestViewsSayWhenTheyAreStale, and when they have ended.
func TestViewsSayWhenTheyAreStale(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/s", "")
		g, v := NewGroup(c, "/s"), NewServiceRegistry(c, "/s")
		tree := NewTreeCache(c, "/s")
		for _, view := range []aView{g, v, tree} {
			if !view.Stale() || view.Err() != nil {
				t.Errorf("%T: nothing was read, and stale is %v, error %v", view,
					view.Stale(), view.Err())
			}
		}
		wantMembers(t, g)
		wantServices(t, v, "")
		readyCache(t, tree)
		for _, view := range []aView{g, v, tree} {
			if view.Stale() {
				t.Errorf("%T is stale", view)
			}
		}
		c.Expire()
		for _, view := range []aView{g, v, tree} {
			if !view.Stale() {
				t.Errorf("%T is not stale in a new session", view)
			}
		}
		letSettle()
		changed, all := g.Changed(), v.Changed()
		for _, view := range []aView{g, v, tree} {
			if view.Stale() {
				t.Errorf("%T was read again, and is stale", view)
			}
			mustClose(t, view)
			if !view.Stale() {
				t.Errorf("%T is closed, and not stale", view)
			}
		}
		if !closed(changed) || !closed(all) || !closed(g.Changed()) {
			t.Error("no change is told when the view is closed")
		}
	})
}

// TestViewsEndWithTheConn, for waiters for a change, too.
func TestViewsEndWithTheConn(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		g := NewGroup(c, "/g")
		wantMembers(t, g)
		changed := g.Changed()
		c.Close()
		<-changed
		if _, err := g.Names(t.Context()); !errors.Is(err, ErrConnClosed) || !g.Stale() {
			t.Errorf("Names: %v, stale %v", err, g.Stale())
		}
		mustClose(t, g)
	})
}

// TestWhatMayNotBeReadHidesNothingElse: an unreadable node hides no other in registry, group and
// caches.
func TestWhatMayNotBeReadHidesNothingElse(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		seedOnes(s, "/s", "/s/mail", "/s/mail/x", "/s/web", "/s/web/a", "/s/web/b")
		allow := s.Forbid("/s/mail", "/s/web/a")
		v, tree := NewServiceRegistry(c, "/s", RecheckEvery(0)),
			NewTreeCache(c, "/s", RecheckEvery(0))
		wantServices(t, v, "web/b=1")
		mustDo(t, tree.Start())
		check.Is(t, tree.Ready(t.Context()), zk.ErrNoAuth)
		s.Seed("/s/web/b", "2")
		wantServices(t, v, "web/b=2")
		check.Equal(t, shownText(tree.Nodes()), "/s=1 /s/web=1 /s/web/b=2")
		for _, view := range []aView{v, tree} {
			if !view.Stale() || !errors.Is(view.Err(), zk.ErrNoAuth) {
				t.Errorf("%T: stale %v, error %v", view, view.Stale(), view.Err())
			}
		}
		requests := c.Called(
			"get",
		) + c.Called("getW") + c.Called("childrenW") + c.Called("children")
		time.Sleep(time.Hour)
		if again := c.Called("get") + c.Called("getW") + c.Called("childrenW") +
			c.Called("children") - requests; again > 6*360+60 {
			t.Errorf("%d requests an hour for two nodes and two views", again)
		}
		allow()
		time.Sleep(task.LongestRefusalPause)
		wantServices(t, v, "mail/x=1 web/a=1 web/b=2")
		check.Equal(t, shownText(tree.Nodes()),
			"/s=1 /s/mail=1 /s/mail/x=1 /s/web=1 /s/web/a=1 /s/web/b=2")
		if err := tree.Ready(t.Context()); err != nil || tree.Stale() || tree.Err() != nil ||
			v.Stale() || v.Err() != nil {
			t.Errorf("Ready: %v, stale %v %v, error %v %v", err, tree.Stale(), v.Stale(),
				tree.Err(), v.Err())
		}
		mustClose(t, v, tree)
	})
}

// TestWhatMayNotBeReadAnyMoreStays: a node that became unreadable stays as it was last read, until
// it is gone.
func TestWhatMayNotBeReadAnyMoreStays(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		seedOnes(s, "/s", "/s/web", "/s/web/a", "/s/web/b")
		v, tree := NewServiceRegistry(c, "/s", RecheckEvery(time.Minute)),
			readyCache(t, NewTreeCache(c, "/s", RecheckEvery(time.Minute)))
		wantServices(t, v, "web/a=1 web/b=1")
		s.Forbid("/s/web/a")
		s.Seed("/s/web/a", "2")
		s.Seed("/s/web/b", "2")
		time.Sleep(2 * time.Minute)
		wantServices(t, v, "web/a=1 web/b=2")
		check.Equal(t, shownText(tree.Nodes()), "/s=1 /s/web=1 /s/web/a=1 /s/web/b=2")
		s.Delete("/s/web/a")
		wantServices(t, v, "web/b=2")
		time.Sleep(task.LongestRefusalPause)
		if got, want := shownText(tree.Nodes()), "/s=1 /s/web=1 /s/web/b=2"; got != want ||
			tree.Err() != nil || v.Err() != nil {
			t.Errorf("shown %s, want %s; errors %v, %v", got, want, tree.Err(), v.Err())
		}
		mustClose(t, v, tree)
	})
}

// TestWhatIsBelowWhatMayNotBeListedIsFollowed: known children of a directory that may not be listed
// are still followed, in a new session, too.
func TestWhatIsBelowWhatMayNotBeListedIsFollowed(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		seedOnes(s, "/s", "/s/web", "/s/web/a", "/s/web/b")
		v, tree := NewServiceRegistry(c, "/s", RecheckEvery(0)),
			readyCache(t, NewTreeCache(c, "/s", RecheckEvery(0)))
		want := func(services, nodes string) {
			t.Helper()
			wantServices(t, v, services)
			check.Equal(t, shownText(tree.Nodes()), nodes, "shown")
		}
		want("web/a=1 web/b=1", "/s=1 /s/web=1 /s/web/a=1 /s/web/b=1")
		allow := s.Forbid("/s/web")
		s.Seed("/s/web/a", "2")
		want("web/a=2 web/b=1", "/s=1 /s/web=1 /s/web/a=2 /s/web/b=1")
		c.Expire()
		s.Seed("/s/web/b", "2")
		want("web/a=2 web/b=2", "/s=1 /s/web=1 /s/web/a=2 /s/web/b=2")
		s.Seed("/s/web/b", "3")
		s.Seed("/s/web/c", "1")
		want("web/a=2 web/b=3", "/s=1 /s/web=1 /s/web/a=2 /s/web/b=3")
		allow()
		time.Sleep(task.LongestRefusalPause)
		want("web/a=2 web/b=3 web/c=1", "/s=1 /s/web=1 /s/web/a=2 /s/web/b=3 /s/web/c=1")
		mustClose(t, v, tree)
	})
}
