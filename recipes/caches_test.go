package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// readyCache starts a cache and waits until it is ready.
func readyCache[C interface {
	Start() error
	Ready(context.Context) error
}](t *testing.T, c C) C {
	t.Helper()
	mustDo(t, c.Start())
	err := c.Ready(t.Context())
	for errors.Is(err, zk.ErrNoAuth) { // it goes on trying
		time.Sleep(time.Second)
		err = c.Ready(t.Context())
	}
	check.OK(t, err)
	return c
}

// shownText returns the nodes of a cache as text: "/a=1 /a/b=2".
func shownText(nodes []CachedNode) string {
	var list []string
	for _, n := range nodes {
		list = append(list, fmt.Sprintf("%s=%s", n.Path, n.Data))
	}
	return strings.Join(list, " ")
}

// newsOf reads all pending events: "added /a, ready".
func newsOf(c *CacheChanges) string {
	var list []string
	for {
		e, ok := c.TryNext()
		if !ok {
			return strings.Join(list, ", ")
		}
		list = append(list, strings.TrimSpace(e.Kind.String()+" "+e.Node.Path))
	}
}

func TestNodeCacheFollowsItsNode(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := NewNodeCache(s.Connect(), "/n", RecheckEvery(0))
		changes := c.Changes()
		readyCache(t, c)
		if _, ok := c.Get(); ok || c.Stale() || c.Err() != nil {
			t.Error("a missing node is shown, or stale")
		}
		for _, tc := range []struct {
			change func()
			news   string
			shown  string
		}{
			{func() {}, "ready", ""},
			{func() { s.Seed("/n", "1") }, "added /n", "/n=1"},
			{func() { s.Seed("/n", "2") }, "updated /n", "/n=2"},
			{func() { s.Seed("/n", "2") }, "updated /n", "/n=2"},
			{func() { s.Seed("/n/child", "") }, "", "/n=2"},
			{func() { s.Delete("/n") }, "removed /n", ""},
			{func() { s.Seed("/n", "1") }, "added /n", "/n=1"},
			{
				func() {
					s.Delete("/n")
					s.Seed("/n", "1")
				}, "updated /n", "/n=1",
			},
		} {
			tc.change()
			letSettle()
			if got := newsOf(changes); got != tc.news || shownText(c.Nodes()) != tc.shown {
				t.Errorf("news %q, shown %q; want %q, %q", got, shownText(c.Nodes()),
					tc.news, tc.shown)
			}
		}
		if err := c.Close(t.Context()); err != nil || !c.Stale() {
			t.Error(err, c.Stale())
		}
	})
}

func TestChildrenCacheShowsChildrenOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := NewChildrenCache(s.Connect(), "/d", RecheckEvery(0))
		changes := c.Changes()
		readyCache(t, c)
		s.Seed("/d", "dir")
		s.Seed("/d/b", "1")
		letSettle()
		s.Seed("/d/a", "2")
		s.Seed("/d/a/deep", "3")
		letSettle()
		s.Seed("/d", "other")
		s.Seed("/d/b", "4")
		letSettle()
		check.Equal(t, shownText(c.Nodes()), "/d/a=2 /d/b=4")
		check.Equal(t, newsOf(changes), "ready, added /d/b, added /d/a")
		if n, ok := c.Get("b"); !ok || n.Name() != "b" || n.Stat.Version != 1 {
			t.Errorf("%+v %v", n, ok)
		}
		s.Delete("/d/a")
		letSettle()
		s.Delete("/d")
		letSettle()
		check.Equal(t, newsOf(changes), "removed /d/a, removed /d/b")
		s.Seed("/d", "")
		s.Seed("/d/a", "5")
		letSettle()
		check.Equal(t, newsOf(c.Changes()), "added /d/a, ready")
		mustClose(t, c)
	})
}

func TestTreeCacheShowsTheTree(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/t", "")
		s.Seed("/t/a", "1")
		c := readyCache(t, NewTreeCache(s.Connect(), "/t", RecheckEvery(0)))
		s.Seed("/t/a/b", "2")
		s.Seed("/t/a/b/c", "3")
		letSettle()
		s.Seed("/t/a/b/c", "4")
		letSettle()
		check.Equal(t, shownText(c.Nodes()), "/t= /t/a=1 /t/a/b=2 /t/a/b/c=4")
		if n, ok := c.Get("/t/a/b"); !ok || string(n.Data) != "2" {
			t.Errorf("%+v %v", n, ok)
		}
		changes := c.Changes()
		newsOf(changes)
		s.Delete("/t/a")
		s.Seed("/t/a", "5")
		letSettle()
		check.Equal(t, shownText(c.Nodes()), "/t= /t/a=5")
		mustClose(t, c)
	})
}

func TestCacheOfTheRoot(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/a", "1")
		s.Seed("/a/b", "2")
		tree, children := readyCache(t, NewTreeCache(s.Connect(), "/")),
			readyCache(t, NewChildrenCache(s.Connect(), "/"))
		check.Equal(t, shownText(tree.Nodes()),
			"/= /a=1 /a/b=2 /zookeeper= /zookeeper/config= /zookeeper/quota=")
		check.Equal(t, shownText(children.Nodes()), "/a=1 /zookeeper=")
		mustDo(t, errors.Join(tree.Close(t.Context()), children.Close(t.Context())))
	})
}

// TestCacheReadsAgainInANewSession: a change between two sessions fires no watch.
func TestCacheReadsAgainInANewSession(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, conn *testConn) {
		s.Seed("/t", "")
		s.Seed("/t/a", "1")
		s.Seed("/t/b", "1")
		c := readyCache(t, NewTreeCache(conn, "/t", RecheckEvery(0)))
		changes := c.Changes()
		newsOf(changes)
		conn.Disconnect()
		if !c.Stale() {
			t.Error("not stale while disconnected")
		}
		conn.Expire()
		s.Seed("/t/a", "2")
		s.Delete("/t/b")
		s.Seed("/t/b", "1") // with the same version
		s.Seed("/t/c", "1")
		letSettle()
		if got, want := shownText(c.Nodes()), "/t= /t/a=1 /t/b=1"; got != want || !c.Stale() {
			t.Errorf("shown %s, want %s, stale %v", got, want, c.Stale())
		}
		conn.Reconnect()
		letSettle()
		if got, want := shownText(c.Nodes()), "/t= /t/a=2 /t/b=1 /t/c=1"; got != want || c.Stale() {
			t.Errorf("shown %s, want %s, stale %v", got, want, c.Stale())
		}
		check.Equal(t, newsOf(changes), "updated /t/a, updated /t/b, added /t/c")
		mustClose(t, c)
	})
}

func TestCacheRechecksWithoutEvents(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, conn *testConn) {
		s.Seed("/n", "1")
		conn.Deafen()
		c := readyCache(t, NewNodeCache(conn, "/n", RecheckEvery(time.Hour)))
		s.Seed("/n", "2")
		letSettle()
		if n, _ := c.Get(); string(n.Data) != "1" {
			t.Error("how could it know?")
		}
		time.Sleep(time.Hour)
		letSettle()
		if n, _ := c.Get(); string(n.Data) != "2" {
			t.Error("it did not look again")
		}
		mustClose(t, c)
	})
}

func TestCacheTellsWhyItIsNotReady(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, conn *testConn) {
		c := NewNodeCache(conn, "/n")
		if !c.Stale() {
			t.Error("not stale before Start")
		}
		check.Equal(t, c.Ready(t.Context()).Error(),
			"wait for node cache /n: it was not started; call Start first")
		conn.On("getW", 1, refusal)
		conn.On("getW", 1, refusal)
		conn.On("getW", 1, refusal)
		mustDo(t, c.Start())
		mustDo(t, c.Start())
		ctx := within(t, 500*time.Microsecond)
		check.Is(t, c.Ready(ctx), context.DeadlineExceeded)
		check.Is(t, c.Ready(t.Context()), zk.ErrNoAuth)
		if err := c.Err(); !errors.Is(err, zk.ErrNoAuth) || !c.Stale() {
			t.Error(err)
		}
		letSettle()
		if err := c.Ready(t.Context()); err != nil || c.Stale() {
			t.Error(err)
		}
		if _, err := c.Changes().Next(ctx); err != nil { // ready
			t.Error(err)
		}
		mustClose(t, c)
		check.Is(t, c.Start(), ErrClosed)
		changes := c.Changes()
		if e, err := changes.Next(t.Context()); e.Kind != CacheReady || err != nil {
			t.Error(e, err)
		}
		check.Is(t, errOf(changes.Next(t.Context())), ErrClosed)
		mustClose(t, NewNodeCache(conn, "/n"))
	})
}

func TestChangesWakesItsReader(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := readyCache(t, NewNodeCache(s.Connect(), "/n"))
		changes, idle := c.Changes(), c.Changes()
		idle.Close()
		got := make(chan string, 10)
		go func() {
			defer close(got)
			for {
				e, err := changes.Next(t.Context())
				if err != nil {
					return
				}
				got <- e.Kind.String() + string(e.Node.Data)
			}
		}()
		s.Seed("/n", "1")
		letSettle()
		s.Seed("/n", "2")
		letSettle()
		mustClose(t, c)
		var list []string
		for e := range got {
			list = append(list, e)
		}
		check.List(t, list, []string{"ready", "added1", "updated2"})
		if c.Readers() != 1 || newsOf(idle) != "" {
			t.Error("a closed reader is kept")
		}
	})
}

// TestNextEndsWithItsCacheConnOrReader: remaining events are read first.
func TestNextEndsWithItsCacheConnOrReader(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(t *testing.T, c *NodeCache, conn *testConn, changes *CacheChanges)
		want error
		news int // number of events that can still be read
	}{
		"cache": {
			func(t *testing.T, c *NodeCache, _ *testConn, _ *CacheChanges) {
				mustClose(t, c)
			}, ErrClosed, 2,
		},
		"conn": {
			func(_ *testing.T, _ *NodeCache, conn *testConn, _ *CacheChanges) {
				conn.Close()
			}, ErrConnClosed, 2,
		},
		"reader": {
			func(_ *testing.T, _ *NodeCache, _ *testConn, changes *CacheChanges) {
				changes.Close()
				changes.Close()
			}, ErrClosed, 0,
		},
	} {
		for _, waiting := range []bool{false, true} {
			t.Run(fmt.Sprint(name, waiting), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					s.Seed("/n", "1")
					conn := s.Connect()
					c := readyCache(t, NewNodeCache(conn, "/n"))
					changes := c.Changes()
					if waiting {
						newsOf(changes)
						tc.news = 0
						go func() { letSettle(); tc.end(t, c, conn, changes) }()
					} else {
						tc.end(t, c, conn, changes)
						letSettle()
					}
					var err error
					for n := 0; err == nil; n++ {
						if _, err = changes.Next(t.Context()); (err == nil) != (n < tc.news) {
							t.Errorf("event %d of %d: %v", n, tc.news, err)
						}
					}
					check.Is(t, err, tc.want, "Next")
					letSettle()
					if err := c.Close(t.Context()); err != nil && !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
				})
			})
		}
	}
}

func TestConfigCenterReadsItsCopy(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, conn *testConn) {
		c, writer := NewConfigCenter(conn, "/config", RecheckEvery(0)),
			NewConfigCenter(s.Connect(), "/config")
		changes := c.Changes()
		readyCache(t, c)
		mustDo(t, errors.Join(writer.Create(t.Context(), "b", []byte("1")),
			writer.Create(t.Context(), "a", nil)))
		letSettle()
		newsOf(changes)
		mustDo(t, writer.Update(t.Context(), "b", []byte("2"), 0))
		letSettle()
		before := len(conn.Calls())
		if e, ok := c.Get("b"); !ok || string(e.Value) != "2" || e.Version != 1 || e.Key != "b" {
			t.Errorf("%+v %v", e, ok)
		}
		if _, ok := c.Get("c"); ok {
			t.Error("c is there")
		}
		if list := c.Entries(); len(list) != 2 || list[0].Key != "a" ||
			list[1].Key != "b" || c.Stale() {
			t.Errorf("%+v", list)
		}
		if e, ok, err := writer.Fetch(t.Context(), "c"); ok || err != nil {
			t.Errorf("Fetch: %+v %v", e, err)
		}
		check.Equal(t, len(conn.Calls()), before, "requests")
		check.Equal(t, newsOf(changes), "updated /config/keys/b")
		mustClose(t, c)
	})
}
