package request

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func TestCreateOnceKeepsTheFirst(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		r := NewSender(t.Context(), c, NewOptions[func(*Options)](nil), "", "")
		c.On("create", 3, testconn.LoseReply) // parents come second
		for _, tc := range []struct {
			data string
			made bool
		}{{"yes", true}, {"no", false}, {"yes", true}} {
			stored, made, err := r.CreateOnce("/votes/a", []byte(tc.data))
			if string(stored) != "yes" || made != tc.made || err != nil {
				t.Errorf("%s: %s %v %v", tc.data, stored, made, err)
			}
		}
	})
}

func TestCreateOnceThatEndsInDoubtSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		fault testconn.Rule
		want  bool
	}{"lost reply": {testconn.LoseReply, true}, "no server": {testconn.NoServer, false}} {
		testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
			ctx, cancel := context.WithCancel(t.Context())
			tc.fault.After = cancel
			c.On("create", 1, tc.fault)
			r := NewSender(ctx, c, NewOptions[func(*Options)](nil), "", "")
			_, _, err := r.CreateOnce("/n", nil)
			if !errors.Is(err, context.Canceled) || errors.Is(err, ErrAmbiguous) != tc.want {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestEpochEndsWithItsSession: a decision on a reply of another session is not valid.
func TestEpochEndsWithItsSession(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		c.Seed("/n", "")
		r := NewSender(t.Context(), c, NewOptions[func(*Options)](nil), "", "")
		e := r.Epoch()
		stat, err := r.Exists("/n")
		if err != nil || stat == nil || !e.Owns(stat) || e.Check() != nil {
			t.Errorf("same session: %v %v %v", stat, err, e.Check())
		}
		if (Epoch{Conn: c}).Check() == nil || e.Owns(&zk.Stat{EphemeralOwner: 7}) {
			t.Error("no session, or another's node")
		}
		c.ExpireLate(testconn.Stays)
		if e.Owns(stat) || !errors.Is(e.Check(), ErrRestart) {
			t.Errorf("after expiry: %v", e.Check())
		}
	})
}

// fixedPause is a policy that never gives up.
func fixedPause(pause time.Duration) Policy {
	return PolicyFunc(func(int, time.Duration, error) (time.Duration, bool) { return pause, true })
}

func TestBackoffEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Backoff
		err := b.Wait(testconn.Within(t, time.Second), fixedPause(time.Hour), zk.ErrNoServer)
		check.Is(t, err, context.DeadlineExceeded)
	})
}

// TestRowsComeBackApart: rows of requests that fail at one instant are repeated at different
// instants, unless they have the same kinds and began together.
func TestRowsComeBackApart(t *testing.T) {
	rows := []struct {
		kind    string
		begun   time.Duration
		cleanUp bool
	}{
		{"lock", 0, false}, {"lock", 0, true}, {"queue", 0, false},
		{"lock", time.Nanosecond, false}, {"lock", time.Second, true},
	}
	synctest.Test(t, func(t *testing.T) {
		back, began := make(chan time.Duration, len(rows)), time.Now()
		for _, row := range rows {
			go func() {
				time.Sleep(row.begun)
				opts := Options{Retry: fixedPause(10 * time.Millisecond)}
				r := NewSender(t.Context(), nil, opts, row.kind, "/a")
				time.Sleep(2*time.Second - row.begun) // all fail now
				if row.cleanUp {
					r = r.Unbounded()
				}
				testconn.MustDo(t, r.Again(zk.ErrConnectionClosed))
				back <- time.Since(began)
			}()
		}
		var times []time.Duration
		for range rows {
			times = append(times, <-back)
		}
		slices.Sort(times)
		check.Equal(t, len(slices.Compact(slices.Clone(times))), len(rows),
			"rows come back at %v; want all apart", times)
	})
}

// TestConfirmIsAWrite, whatever there is at the path, and also after a lost reply: it takes a zxid.
func TestConfirmIsAWrite(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		for path, perms := range map[string]int32{"/open": zk.PermAll, "/hidden": zk.PermWrite} {
			_, err := c.Create(path, nil, 0, zk.WorldACL(perms))
			check.OK(t, err)
		}
		r := NewSender(t.Context(), c, NewOptions[func(*Options)](nil), "", "")
		c.On("confirm", 4, testconn.LoseReply)
		for _, path := range []string{"/open", "/hidden", "/none/at/all", "/open"} {
			before := s.LastZxid()
			check.OK(t, r.Confirm(path))
			check.Equal(t, s.LastZxid() > before, true, "%s: a write", path)
		}
	})
}
