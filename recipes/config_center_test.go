package recipes

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"
)

func wantFetch(t *testing.T, c *ConfigCenter, key, value string, version int32) {
	t.Helper()
	e, ok, err := c.Fetch(t.Context(), key)
	if err != nil || !ok || string(e.Value) != value || e.Version != version || e.Key != key {
		t.Fatalf("Fetch %s: %s@%d %v %v, want %s@%d", key, e.Value, e.Version, ok, err,
			value, version)
	}
}

func TestConfigCenterWritesOnceWhateverIsLost(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest, netError, noServer} {
		for nth := 1; nth <= 4; nth++ {
			for _, op := range []string{"multi", "get", "sync", "exists", "delete", "create"} {
				inBubble(t, func(t *testing.T, s *testServer) {
					conn := s.Connect()
					c := NewConfigCenter(conn, "/config")
					conn.On(op, nth, fault)
					ctx := t.Context()
					if err := c.Update(ctx, "k", nil, AnyVersion); !errors.Is(err, zk.ErrNoNode) ||
						OutcomeOf(err) != NotApplied {
						t.Fatal(err)
					}
					for _, step := range []struct {
						err, want error
					}{
						{c.Create(ctx, "k", []byte("1")), nil},
						{c.Create(ctx, "k", []byte("2")), zk.ErrNodeExists},
						{c.Update(ctx, "k", []byte("3"), 0), nil},
						{c.Update(ctx, "k", []byte("4"), 0), zk.ErrBadVersion},
						{c.Update(ctx, "k", []byte("5"), AnyVersion), nil},
						{c.Delete(ctx, "k", 1), zk.ErrBadVersion},
					} {
						if !errors.Is(step.err, step.want) || step.want == nil && step.err != nil {
							t.Fatalf("%v, want %v", step.err, step.want)
						}
					}
					wantFetch(t, c, "k", "5", 2)
					mustDo(t, c.Delete(ctx, "k", 2))
					wantError(t, c.Delete(ctx, "k", AnyVersion), zk.ErrNoNode)
					if _, ok, err := c.Fetch(ctx, "k"); ok || err != nil {
						t.Fatal(ok, err)
					}
					s.WantBelow(t, "/config/writes", 0)
				})
			}
		}
	}
}

func TestConfigCenterReadsItsCopy(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		conn := s.Connect()
		c, writer := NewConfigCenter(conn, "/config", RecheckEvery(0)),
			NewConfigCenter(s.Connect(), "/config")
		changes := c.Changes()
		readyCache(t, c)
		if err := errors.Join(
			writer.Create(t.Context(), "b", []byte("1")), writer.Create(t.Context(), "a", nil),
		); err != nil {
			t.Fatal(err)
		}
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
		if len(conn.Calls()) != before {
			t.Error("it asked the server")
		}
		if got := newsOf(changes); got != "updated /config/keys/b" {
			t.Error(got)
		}
		mustClose(t, c)
	})
}

func TestConfigCenterRefusesWhatIsNoKey(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		conn := s.Connect()
		c := NewConfigCenter(conn, "/config")
		for _, key := range []string{"", ".", "..", "a/b"} {
			_, _, err := c.Fetch(t.Context(), key)
			for _, err := range []error{
				c.Create(t.Context(), key, nil), c.Update(t.Context(), key, nil, 0), c.Delete(
					t.Context(), key, 0,
				), err,
			} {
				if !errors.Is(err, zk.ErrInvalidPath) || OutcomeOf(err) != NotApplied {
					t.Errorf("%q: %v", key, err)
				}
			}
		}
		if len(conn.Calls()) > 0 {
			t.Error("it asked the server")
		}
	})
}
