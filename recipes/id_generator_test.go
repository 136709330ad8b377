package recipes_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

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
