package recipes_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/task"
)

// wantMembers looks at rest.
func wantMembers(t *testing.T, g *Group, want ...string) {
	t.Helper()
	time.Sleep(time.Second)
	got, err := g.Names(t.Context())
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

func TestGroupFollowsItsMembers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, two := s.Connect(), s.Connect()
		g := NewGroup(s.Connect(), "/g", RecheckEvery(0))
		wantMembers(t, g)
		b := NewGroupMember(two, "/g", "b", nil)
		changed := g.Changed()
		mustJoin(t, b)
		<-changed
		wantMembers(t, g, "b")
		a := NewGroupMember(one, "/g", "a", nil)
		mustJoin(t, a)
		wantMembers(t, g, "a", "b")
		one.Disconnect()
		one.Expire()
		wantMembers(t, g, "b")
		one.Reconnect()
		wantMembers(t, g, "a", "b")
		mustClose(t, a, b)
		wantMembers(t, g)
		mustDo(t, one.Delete("/g", -1))
		wantMembers(t, g)
		a = NewGroupMember(one, "/g", "a", nil)
		mustJoin(t, a)
		wantMembers(t, g, "a")
		mustClose(t, a, g)
	})
}

func TestGroupKeepsItsViewWhenItCannotLook(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		a := NewGroupMember(s.Connect(), "/g", "a", nil)
		mustJoin(t, a)
		g := NewGroup(c, "/g")
		wantMembers(t, g, "a")
		if g.Stale() {
			t.Error("stale, though connected")
		}
		c.Disconnect()
		mustClose(t, a)
		wantMembers(t, g, "a")
		if !g.Stale() {
			t.Error("not stale, though disconnected")
		}
		c.Expire()
		c.On("childrenW", 1, refusal)
		c.Reconnect()
		wantMembers(t, g)
		mustClose(t, g)
	})
}

func TestGroupSurvivesLostWatches(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.Deafen()
		g := NewGroup(c, "/g")
		a := NewGroupMember(s.Connect(), "/g", "a", nil)
		wantMembers(t, g)
		mustJoin(t, a)
		wantMembers(t, g)
		time.Sleep(time.Minute)
		wantMembers(t, g, "a")
		mustClose(t, a, g)
	})
}

func TestGroupSetsOneWatchForManyLooks(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/g", "")
		c := s.Connect()
		g := NewGroup(c, "/g", RecheckEvery(time.Second))
		wantMembers(t, g)
		time.Sleep(time.Hour)
		wantMembers(t, g)
		check.Equal(t, c.Called("childrenW"), 1, "watches")
		mustClose(t, g)
	})
}

func TestGroupRefusals(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.On("childrenW", 1, refusal)
		g := NewGroup(c, "/g")
		check.Is(t, errOf(g.Names(t.Context())), zk.ErrNoAuth)
		mustClose(t, g)
		check.Is(t, errOf(g.Names(t.Context())), ErrClosed)
	})
}

// TestGroupShowsWhatItsMembersSay: it shows their data and names.
func TestGroupShowsWhatItsMembersSay(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, two := s.Connect(), s.Connect()
		g := NewGroup(s.Connect(), "/g", RecheckEvery(0))
		wantMembers(t, g)
		a, b := NewGroupMember(one, "/g", "a", []byte("1")), NewGroupMember(two, "/g", "b", nil)
		mustJoin(t, b)
		mustJoin(t, a)
		wantMembers(t, g, "a", "b")
		first, err := g.Members(t.Context())
		if err != nil || len(first) != 2 || first[0].Name != "a" || string(first[0].Data) != "1" ||
			first[0].Session != one.SessionID() || first[1].Session != two.SessionID() ||
			first[0].Czxid <= first[1].Czxid {
			t.Fatalf("members %+v, %v", first, err)
		}
		first[0].Data[0] = 'x' // it is the caller's
		if again, err := g.Members(t.Context()); err != nil || string(again[0].Data) != "1" {
			t.Errorf("members %+v, %v", again, err)
		}
		s.Seed("/g/a", "graffiti")
		letSettle()
		changed := g.Changed()
		one.Expire()
		<-changed
		time.Sleep(time.Second)
		if again, err := g.Members(t.Context()); err != nil || len(again) != 2 ||
			string(again[0].Data) != "1" || again[0].Czxid <= first[0].Czxid ||
			again[0].Session != one.SessionID() {
			t.Errorf("members %+v, %v", again, err)
		}
		mustClose(t, a, b, g)
	})
}

// TestAMemberThatMayNotBeReadHidesNoOther, and is shown by its name.
func TestAMemberThatMayNotBeReadHidesNoOther(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		a, b := NewGroupMember(s.Connect(), "/g", "a", nil),
			NewGroupMember(s.Connect(), "/g", "b", nil)
		mustJoin(t, a)
		mustJoin(t, b)
		allow := s.Forbid("/g/a")
		g := NewGroup(c, "/g", RecheckEvery(0))
		wantMembers(t, g, "a", "b")
		if list, err := g.Members(t.Context()); err != nil || len(list) != 1 ||
			list[0].Name != "b" ||
			!errors.Is(g.Err(), zk.ErrNoAuth) || !g.Stale() {
			t.Errorf("members %+v, %v; stale %v, error %v", list, err, g.Stale(), g.Err())
		}
		allow()
		time.Sleep(task.LongestRefusalPause)
		if list, err := g.Members(t.Context()); err != nil || len(list) != 2 || g.Err() != nil ||
			g.Stale() {
			t.Errorf("members %+v, %v; stale %v, error %v", list, err, g.Stale(), g.Err())
		}
		mustClose(t, a, b, g)
	})
}
