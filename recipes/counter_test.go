package recipes_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

func wantAdd(t *testing.T, c *Counter, delta, want int64) {
	t.Helper()
	if got, err := c.Add(t.Context(), delta); err != nil || got != want {
		t.Fatalf("Add %d: %d %v, want %d", delta, got, err, want)
	}
}

func wantGet(t *testing.T, c *Counter, want int64) {
	t.Helper()
	if got, err := c.Get(t.Context()); err != nil || got != want {
		t.Fatalf("Get: %d %v, want %d", got, err, want)
	}
}

// TestCounterTellsAnEchoFromARival: a rival adds between the lost request and its repetition.
func TestCounterTellsAnEchoFromARival(t *testing.T) {
	for name, fault := range map[string]rule{"request lost": loseRequest, "reply lost": loseReply} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, conn *testConn) {
				c, rival := NewCounter(conn, "/c"), NewCounter(s.Connect(), "/c")
				wantAdd(t, c, 1, 1)
				fault.After = func() {
					mustDo(t, errOf(rival.Add(t.Context(), 10)))
					mustDo(t, errOf(rival.Add(t.Context(), -10)))
				}
				conn.On("multi", 1, fault)
				wantAdd(t, c, 1, 2)
				wantGet(t, c, 2)
				s.WantBelow(t, "/c", 0)
			})
		})
	}
}

func TestCounterPassesTheVersionThatMeansAny(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/c", "7")
		s.SetVersion("/c", -1)
		slow := s.Connect()
		c, rival := NewCounter(slow, "/c"), NewCounter(s.Connect(), "/c")
		slow.On("multi", 1, rule{Before: func() { // c has read version -1
			if sum, err := rival.Add(context.Background(), 1); sum != 8 || err != nil {
				t.Error(sum, err)
			}
		}})
		wantAdd(t, c, 1, 9)
		wantAdd(t, c, 1, 10)
		s.WantBelow(t, "/c", 1) // the turn
	})
}

func TestCounterRefusesWhatIsNoNumber(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/c", "seven")
		c := NewCounter(s.Connect(), "/c")
		_, err := c.Add(t.Context(), 1)
		if err == nil || OutcomeOf(err) != NotApplied ||
			!strings.Contains(err.Error(), `add to counter /c: the data is "seven"; expected`) {
			t.Error(err)
		}
		if _, err := c.Get(t.Context()); err == nil {
			t.Error("Get of no number")
		}
		big := NewCounter(s.Connect(), "/big")
		wantAdd(t, big, math.MaxInt64, math.MaxInt64)
		if _, err := big.Add(t.Context(), 1); err == nil ||
			!strings.Contains(err.Error(), "does not fit") {
			t.Error(err)
		}
		wantAdd(t, big, math.MinInt64, -1)
		if _, err := big.Add(t.Context(), math.MinInt64); err == nil {
			t.Error("underflow")
		}
		wantGet(t, big, -1)
	})
}

func TestCounterGivenUpSettlesInTheBackground(t *testing.T) {
	for _, fault := range []rule{loseReply, loseRequest} {
		alone(t, func(t *testing.T, s *testServer, conn *testConn) {
			c := NewCounter(conn, "/c")
			wantAdd(t, c, 1, 1)
			ctx, cancel := context.WithCancel(t.Context())
			fault.After = func() { cancel(); conn.Disconnect() }
			conn.On("multi", 1, fault)
			if _, err := c.Add(ctx, 1); OutcomeOf(err) != Unknown {
				t.Errorf("Add: %v", err)
			}
			time.Sleep(time.Second)
			conn.Reconnect()
			mustClose(t, c)
			s.WantBelow(t, "/c", 0)
			wantFailure(t, errOf(c.Add(t.Context(), 1)), ErrClosed, NotApplied)
		})
	}
}

func TestCounterReportsARefusal(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, conn *testConn) {
		c := NewCounter(conn, "/dir/c")
		conn.On("create", 1, refusal)
		wantFailure(t, errOf(c.Add(t.Context(), 1)), zk.ErrNoAuth, NotApplied)
		conn.On("delete", 1, refusal)
		wantAdd(t, c, 1, 1)
		check.Is(t, c.Close(t.Context()), zk.ErrNoAuth)
	})
}

func wantIDs(t *testing.T, g *IDGenerator, want ...int64) {
	t.Helper()
	for _, n := range want {
		if got, err := g.Next(t.Context()); err != nil || got != n {
			t.Fatalf("Next: %d %v, want %d", got, err, n)
		}
	}
}

func TestIDGeneratorsShareTheNumbers(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest, netError, noServer} {
		alone(t, func(t *testing.T, s *testServer, conn *testConn) {
			a, b, c := NewIDGenerator(conn, "/ids", 3), NewIDGenerator(s.Connect(), "/ids", 2),
				NewIDGenerator(conn, "/ids", 0)
			conn.On("multi", 2, fault)
			wantIDs(t, a, 1, 2)
			wantIDs(t, b, 4)
			wantIDs(t, a, 3, 6, 7)
			wantIDs(t, c, 9, 10)
			wantIDs(t, b, 5, 11, 12)
			wantIDs(t, a, 8, 13)
			s.WantBelow(t, "/ids", 0)
		})
	}
}

func TestIDGeneratorServesManyAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		g := NewIDGenerator(s.Connect(), "/ids", 4)
		ids := make(chan int64)
		for range 10 {
			go func() {
				id, err := g.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				ids <- id
			}()
		}
		var got []int64
		for range 10 {
			got = append(got, <-ids)
		}
		slices.Sort(got)
		check.List(t, got, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	})
}

func TestIDGeneratorLosesWhatIsGivenUp(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, conn *testConn) {
		g := NewIDGenerator(conn, "/ids", 2)
		wantIDs(t, g, 1, 2)
		ctx, cancel := context.WithCancel(t.Context())
		fault := loseReply
		fault.After = func() { cancel(); conn.Disconnect() }
		conn.On("multi", 1, fault)
		if _, err := g.Next(ctx); OutcomeOf(err) != Unknown ||
			!strings.HasPrefix(err.Error(), "take from id generator /ids: ") {
			t.Error(err)
		}
		wantFailure(t, errOf(g.Next(ctx)), context.Canceled, NotApplied)
		conn.Reconnect()
		time.Sleep(time.Second)
		wantIDs(t, g, 5)
		mustClose(t, g)
		check.Is(t, errOf(g.Next(t.Context())), ErrClosed)
	})
}

func TestIDGeneratorEndsWithClose(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, conn *testConn) {
		g := NewIDGenerator(conn, "/ids", 2)
		conn.Disconnect()
		failed := make(chan error)
		for range 2 {
			go func() {
				_, err := g.Next(t.Context())
				failed <- err
			}()
		}
		time.Sleep(time.Second)
		ctx := within(t, time.Second)
		go func() {
			time.Sleep(time.Minute)
			conn.Reconnect()
		}()
		check.Is(t, g.Close(ctx), context.DeadlineExceeded)
		for range 2 {
			check.Is(t, <-failed, ErrClosed)
		}
		mustClose(t, g)
	})
}

func TestIDGeneratorRefusesANegativeCounter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/ids", "-5")
		if _, err := NewIDGenerator(s.Connect(), "/ids", 2).Next(t.Context()); err == nil ||
			!strings.Contains(err.Error(), "the counter was -5") {
			t.Error(err)
		}
	})
}
