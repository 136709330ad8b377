package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/request"
)

func wantState(t *testing.T, got ValueState, err error, data string, version int32) {
	t.Helper()
	if err != nil || !got.Exists || string(got.Data) != data || got.Version != version {
		t.Fatalf("got %+v (%s) %v, want %s@%d", got, got.Data, err, data, version)
	}
}

func mustSetValue(t *testing.T, v *SharedValue, data string, version int32) ValueState {
	t.Helper()
	state, err := v.Set(t.Context(), []byte(data))
	wantState(t, state, err, data, version)
	return state
}

// TestSharedValueTellsAnEchoFromARival: a rival writes the same data between the lost request and
// its repetition.
func TestSharedValueTellsAnEchoFromARival(t *testing.T) {
	for _, lost := range []rule{loseRequest, loseReply} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			v, rival := NewSharedValue(c, "/v"), NewSharedValue(s.Connect(), "/v")
			seen := mustSetValue(t, v, "x", 0)
			fault := lost
			fault.After = func() { mustDo(t, errOf(rival.Set(t.Context(), []byte("y")))) }
			c.On("multi", 1, fault)
			now, ok, err := v.CompareAndSet(t.Context(), seen, []byte("y"))
			if wantState(t, now, err, "y", 1); ok != (lost.Fault == loseReply.Fault) {
				t.Errorf("done %v", ok)
			}
		})
	}
}

func TestNextSeesEachChange(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		v, writer := NewSharedValue(c, "/v", RecheckEvery(0)), NewSharedValue(s.Connect(), "/v")
		seen := make(chan ValueState)
		go func() {
			defer close(seen)
			var last ValueState
			for {
				next, err := v.Next(t.Context(), last)
				if err != nil {
					check.Is(t, err, ErrClosed)
					return
				}
				last = next
				seen <- next
			}
		}()
		for i := range int32(3) {
			time.Sleep(time.Hour)
			mustSetValue(t, writer, fmt.Sprint(i), i)
			wantState(t, <-seen, nil, fmt.Sprint(i), i)
		}
		s.Delete("/v")
		if gone := <-seen; gone.Exists {
			t.Errorf("%+v", gone)
		}
		synctest.Wait()
		mustClose(t, v)
		<-seen
	})
}

// TestValuesAreNotThoseOfALaggingServer, in the first session and in the next one: it has the write
// of "1" and has missed the write of "2".
func TestValuesAreNotThoseOfALaggingServer(t *testing.T) {
	for nth := range 4 {
		for _, op := range []string{"confirm", "get", "getW"} {
			behind := func(t *testing.T, s *testServer, c *testConn) (seen ValueState) {
				v := NewSharedValue(s.Connect(), "/v")
				mustSetValue(t, v, "1", 0)
				old := s.Copy()
				seen = mustSetValue(t, v, "2", 1)
				if nth == 0 {
					c.Lag(old)
				} else {
					c.On(op, nth, rule{Before: func() { c.FallBehind(old) }})
				}
				return seen
			}
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				seen, v := behind(t, s, c), NewSharedValue(c, "/v")
				now, err := v.Get(t.Context())
				_, ok, casErr := v.CompareAndSet(t.Context(), seen, []byte("3"))
				if err := errors.Join(err, casErr); err != nil || !now.Same(seen) || !ok {
					t.Errorf("%s %d: %+v, %v, %v; want %+v", op, nth, now, ok, err, seen)
				}
				mustClose(t, v)
			})
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				seen, v := behind(t, s, c), NewSharedValue(c, "/v", RecheckEvery(time.Second))
				check.Is(t, errOf(v.Next(within(t, time.Minute), seen)), context.DeadlineExceeded)
				mustClose(t, v)
			})
		}
	}
}

// TestValuesAreNotTheCallersBytes: values are copied.
func TestValuesAreNotTheCallersBytes(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		data := []byte("data")
		spoil := func(op string) {
			data = []byte("data")
			c.On(op, 1, rule{Before: func() { data[0] = 'x' }, Fault: fault.DropRequest})
		}
		v, g := NewSharedValue(c, "/v"), NewConfigCenter(c, "/c")
		spoil("multi")
		now, err := v.Set(t.Context(), data)
		wantState(t, now, err, "data", 0)
		spoil("multi")
		mustDo(t, g.Create(t.Context(), "k", data))
		if e, _, err := g.Fetch(t.Context(), "k"); err != nil || string(e.Value) != "data" {
			t.Errorf("Fetch: %s, %v", e.Value, err)
		}
		spoil("create")
		n, err := CreateProtected(t.Context(), c, "/", "n", data, EphemeralSequential)
		mustDo(t, err)
		s.WantNode(t, n.Path, "data", c.SessionID())
		acl := zk.WorldACL(zk.PermRead)
		given := request.NewOptions([]Option{ACL(acl...), Data(data)})
		acl[0].Perms, data[1] = 0, 'x'
		if given.ACL[0].Perms != zk.PermRead || string(given.Data) != "xata" {
			t.Errorf("options %+v", given)
		}
		mustClose(t, v, g)
	})
}
