package recipes

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// wantMembers looks when everything has come to rest.
func wantMembers(t *testing.T, g *Group, want ...string) {
	t.Helper()
	time.Sleep(time.Second)
	got, err := g.Members(t.Context())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("members %v, %v; want %v", got, err, want)
	}
}

func mustJoin(t *testing.T, m *GroupMember) {
	t.Helper()
	if err := m.Join(t.Context()); err != nil || !m.Present() {
		t.Fatalf("Join: %v, present %v", err, m.Present())
	}
}

// quit closes recipes in the end of a bubble.
func quit(t *testing.T, recipes ...interface{ Close(context.Context) error }) {
	t.Helper()
	for _, r := range recipes {
		if err := r.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestGroupFollowsItsMembers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		one, two := s.connect(), s.connect()
		g := NewGroup(s.connect(), "/g", RecheckEvery(0))
		wantMembers(t, g)
		b := NewGroupMember(two, "/g", "b", nil)
		changed := g.Changed()
		mustJoin(t, b)
		<-changed
		wantMembers(t, g, "b")
		a := NewGroupMember(one, "/g", "a", nil)
		mustJoin(t, a)
		wantMembers(t, g, "a", "b")
		one.disconnect()
		one.expire(false)
		wantMembers(t, g, "b")
		one.reconnect()
		wantMembers(t, g, "a", "b")
		quit(t, a, b)
		wantMembers(t, g)
		if err := one.Delete("/g", -1); err != nil {
			t.Error(err)
		}
		wantMembers(t, g)
		a = NewGroupMember(one, "/g", "a", nil)
		mustJoin(t, a)
		wantMembers(t, g, "a")
		quit(t, a, g)
	})
}

func TestGroupKeepsItsViewWhenItCannotLook(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		a := NewGroupMember(s.connect(), "/g", "a", nil)
		mustJoin(t, a)
		g := NewGroup(c, "/g")
		wantMembers(t, g, "a")
		if g.Stale() {
			t.Error("stale, though connected")
		}
		c.disconnect()
		quit(t, a)
		wantMembers(t, g, "a")
		if !g.Stale() {
			t.Error("not stale, though disconnected")
		}
		c.expire(false)
		c.on("childrenW", 1, rule{lose: true, err: zk.ErrNoAuth})
		c.reconnect()
		wantMembers(t, g)
		quit(t, g)
	})
}

func TestGroupSurvivesLostRequestsAndWatches(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest, netError, noServer} {
		for nth := 1; nth <= 2; nth++ {
			for _, op := range []string{"childrenW", "existsW"} {
				inBubble(t, func(t *testing.T, s *fakeServer) {
					c := s.connect()
					c.on(op, nth, fault)
					g := NewGroup(c, "/g", RecheckEvery(0))
					wantMembers(t, g)
					a := NewGroupMember(s.connect(), "/g", "a", nil)
					mustJoin(t, a)
					wantMembers(t, g, "a")
					quit(t, a, g)
				})
			}
		}
	}
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		g := NewGroup(c, "/g")
		a := NewGroupMember(s.connect(), "/g", "a", nil)
		wantMembers(t, g)
		c.watches = map[string][]chan zk.Event{} // the server has lost them
		mustJoin(t, a)
		wantMembers(t, g)
		time.Sleep(time.Minute)
		wantMembers(t, g, "a")
		quit(t, a, g)
	})
}

func TestGroupSetsOneWatchForManyLooks(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		s.seed(t, 0, "/g", "")
		c := s.connect()
		g := NewGroup(c, "/g", RecheckEvery(time.Second))
		wantMembers(t, g)
		time.Sleep(time.Hour)
		wantMembers(t, g)
		if n := c.called("childrenW"); n != 1 {
			t.Errorf("%d watches were set", n)
		}
		quit(t, g)
	})
}

func TestGroupRefusals(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		for _, name := range []string{"", ".", "..", "a/b"} {
			m := NewGroupMember(c, "/g", name, nil)
			if err := m.Join(t.Context()); OutcomeOf(err) != NotApplied {
				t.Errorf("join as %q: %v", name, err)
			}
			quit(t, m)
		}
		c.on("childrenW", 1, rule{lose: true, err: zk.ErrNoAuth})
		g := NewGroup(c, "/g")
		if _, err := g.Members(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("Members: %v", err)
		}
		quit(t, g)
		if _, err := g.Members(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Members after Close: %v", err)
		}
	})
}
