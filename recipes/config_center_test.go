package recipes_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

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

func TestConfigCenterRefusesWhatIsNoKey(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, conn *testConn) {
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
