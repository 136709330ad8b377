package recipes

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func wantState(t *testing.T, got ValueState, err error, data string, version int32) {
	t.Helper()
	if err != nil || !got.Exists || string(got.Data) != data || got.Version != version {
		t.Fatalf("got %+v (%s) %v, want %s@%d", got, got.Data, err, data, version)
	}
}

// TestSharedValueTellsAnEchoFromARival: a rival writes the same data between the lost request and
// its repetition.
func TestSharedValueTellsAnEchoFromARival(t *testing.T) {
	for name, lost := range map[string]rule{"request lost": loseRequest, "reply lost": loseReply} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				conn := s.Connect()
				v, rival := NewSharedValue(conn, "/v"), NewSharedValue(s.Connect(), "/v")
				seen, err := v.Set(t.Context(), []byte("x"))
				wantState(t, seen, err, "x", 0)
				lost.After = func() {
					mustDo(t, errOf(rival.Set(t.Context(), []byte("y"))))
				}
				conn.On("multi", 1, lost)
				now, ok, err := v.CompareAndSet(t.Context(), seen, []byte("y"))
				if wantState(t, now, err, "y", 1); ok != (lost.Fault == fault.DropReply) {
					t.Errorf("done %v", ok)
				}
			})
		})
	}
}

func TestNextSeesEachChange(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		v, writer := NewSharedValue(s.Connect(), "/v", RecheckEvery(0)),
			NewSharedValue(s.Connect(), "/v")
		seen := make(chan ValueState)
		go func() {
			defer close(seen)
			var last ValueState
			for {
				next, err := v.Next(t.Context(), last)
				if err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
				last = next
				seen <- next
			}
		}()
		for i := range 3 {
			time.Sleep(time.Hour)
			data := fmt.Sprint(i)
			mustDo(t, errOf(writer.Set(t.Context(), []byte(data))))
			wantState(t, <-seen, nil, data, int32(i))
		}
		mustDo(t, s.Connect().Delete("/v", -1))
		if gone := <-seen; gone.Exists {
			t.Errorf("%+v", gone)
		}
		synctest.Wait()
		mustClose(t, v)
		<-seen
	})
}

// lagging makes a server that has the write of "1" and has missed the write of "2", and a
// connection to it.
func lagging(
	t *testing.T, s *testServer,
) (writer, c *testConn, seen ValueState, old testconn.Copy) {
	t.Helper()
	writer, c = s.Connect(), s.Connect()
	v := NewSharedValue(writer, "/v")
	mustDo(t, errOf(v.Set(t.Context(), []byte("1"))))
	old = s.Copy()
	seen, err := v.Set(t.Context(), []byte("2"))
	if err != nil {
		t.Fatal(err)
	}
	return writer, c, seen, old
}

// TestValuesAreNotThoseOfALaggingServer, in the first session and in the next one.
func TestValuesAreNotThoseOfALaggingServer(t *testing.T) {
	for nth := range 4 {
		for _, op := range []string{"sync", "get", "getW"} {
			behind := func(s *testServer, c *testConn, old testconn.Copy) {
				if nth == 0 {
					c.Lag(old)
					return
				}
				c.On(op, nth, rule{Before: func() { c.FallBehind(old) }})
			}
			inBubble(t, func(t *testing.T, s *testServer) {
				_, c, seen, old := lagging(t, s)
				behind(s, c, old)
				v := NewSharedValue(c, "/v")
				if now, err := v.Get(t.Context()); err != nil || !now.same(seen) {
					t.Errorf("%s %d: Get: %+v, %v; want %+v", op, nth, now, err, seen)
				}
				if now, ok, err := v.CompareAndSet(t.Context(), seen, []byte("3")); err != nil ||
					!ok {
					t.Errorf("%s %d: CompareAndSet: %+v, %v, %v", op, nth, now, ok, err)
				}
				mustClose(t, v)
			})
			inBubble(t, func(t *testing.T, s *testServer) {
				_, c, seen, old := lagging(t, s)
				behind(s, c, old)
				v := NewSharedValue(c, "/v", RecheckEvery(time.Second))
				ctx := within(t, time.Minute)
				if now, err := v.Next(ctx, seen); err == nil {
					t.Errorf("%s %d: Next: %+v, which is older than %+v", op, nth, now, seen)
				}
				mustClose(t, v)
			})
		}
	}
}

// TestValuesAreNotTheCallersBytes: values are copied.
func TestValuesAreNotTheCallersBytes(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		data := []byte("data")
		c.On("multi", 1, rule{Before: func() { data[0] = 'x' }, Fault: fault.DropRequest})
		v := NewSharedValue(c, "/v")
		if now, err := v.Set(t.Context(), data); err != nil || string(now.Data) != "data" {
			t.Errorf("Set: %s, %v", now.Data, err)
		}
		data = []byte("data")
		c.On("multi", 1, rule{Before: func() { data[0] = 'x' }, Fault: fault.DropRequest})
		g := NewConfigCenter(c, "/c")
		mustDo(t, g.Create(t.Context(), "k", data))
		if e, _, err := g.Fetch(t.Context(), "k"); err != nil || string(e.Value) != "data" {
			t.Errorf("Fetch: %s, %v", e.Value, err)
		}
		data = []byte("data")
		c.On("create", 1, rule{Before: func() { data[0] = 'x' }, Fault: fault.DropRequest})
		n, err := CreateProtected(t.Context(), c, "/", "n", data, EphemeralSequential)
		if err != nil {
			t.Fatal(err)
		}
		s.WantNode(t, n.Path, "data", c.SessionID())
		acl := zk.WorldACL(zk.PermRead)
		given := newOptions([]Option{ACL(acl...), Data(data)})
		acl[0].Perms, data[1] = 0, 'x'
		if given.acl[0].Perms != zk.PermRead || string(given.data) != "xata" {
			t.Errorf("options %+v", given)
		}
		mustClose(t, v, g)
	})
}
