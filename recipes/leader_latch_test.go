package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

func started(t *testing.T, l *LeaderLatch) *LeaderLatch {
	t.Helper()
	mustDo(t, l.Start())
	time.Sleep(time.Second)
	return l
}

func mustLead(t *testing.T, l *LeaderLatch) *Term {
	t.Helper()
	term, err := l.Await(t.Context())
	if err != nil {
		t.Fatalf("Await: %v", err)
	}
	return term
}

func TestLatchesLeadInOrderAndEpochsGrow(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		var latches []*LeaderLatch
		for i := range 4 {
			l := NewLeaderLatch(s.Connect(), "/e", fmt.Sprint("n", i))
			latches = append(latches, started(t, l))
		}
		all, err := latches[3].Participants(t.Context())
		if err != nil || len(all) != 4 {
			t.Fatalf("%v, %v", all, err)
		}
		last := int64(0)
		for i, l := range latches {
			term := mustLead(t, l)
			if id := fmt.Sprint("n", i); all[i].ID != id || all[i].Epoch != term.Epoch() {
				t.Errorf("candidate %d is %v; want %s in epoch %d", i, all[i], id, term.Epoch())
			}
			for j, other := range latches {
				check.Equal(t, other.HasLeadership(), i == j, "%d leads, says %d", i, j)
			}
			if leader, ok, err := latches[3].Leader(t.Context()); leader != all[i] || !ok ||
				err != nil {
				t.Errorf("leader %v %v %v; want %v", leader, ok, err, all[i])
			}
			if term.Epoch() <= last || closed(term.Lost()) {
				t.Errorf("epoch %d after %d, lost %v", term.Epoch(), last, closed(term.Lost()))
			}
			last = term.Epoch()
			if mustClose(t, l); !closed(term.Lost()) || l.HasLeadership() {
				t.Error("leads after Close")
			}
		}
		s.WantBelow(t, "/e", 0)
		if _, ok, err := NewLeaderLatch(c, "/e", "").Leader(t.Context()); ok || err != nil {
			t.Errorf("there is a leader: %v %v", ok, err)
		}
	})
}

// TestLatchStandsAgain after the end of its session, and when it cannot know whether it leads.
func TestLatchStandsAgain(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, c *testConn, lost <-chan struct{}){
		"expiry":    func(_ *testing.T, c *testConn, _ <-chan struct{}) { c.Expire() },
		"late reap": func(_ *testing.T, c *testConn, _ <-chan struct{}) { expiry(c, true)() },
		"silence": func(t *testing.T, c *testConn, lost <-chan struct{}) {
			c.Disconnect()
			time.Sleep(3 * time.Second)
			if !closed(lost) {
				t.Error("not lost in time")
			}
			c.Reconnect()
		},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				l := started(t, NewLeaderLatch(c, "/e", "a"))
				first := mustLead(t, l)
				lose(t, c, first.Lost())
				<-first.Lost()
				second := mustLead(t, l)
				if second.Epoch() <= first.Epoch() || closed(second.Lost()) {
					t.Errorf("epochs %d, %d", first.Epoch(), second.Epoch())
				}
				s.WantBelow(t, "/e", 1) // the old node is removed, though it was not reaped
				mustClose(t, l)
				s.WantBelow(t, "/e", 0)
			})
		})
	}
}

func TestCloseDuringTheCreationOfACandidate(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/e", "")
		l := NewLeaderLatch(c, "/e", "a")
		c.On("create", 1, rule{After: func() { l.EndCalls() }, Fault: fault.DropReply})
		started(t, l)
		mustClose(t, l)
		s.WantBelow(t, "/e", 0)
		check.Is(t, l.Start(), ErrClosed)
		check.Is(t, errOf(l.Await(t.Context())), ErrClosed)
	})
}

func TestRefusedCandidateSaysSoAndStandsOn(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/e", "")
		for range 3 {
			c.On("create", 1, refusal)
		}
		l := NewLeaderLatch(c, "/e", "a")
		mustDo(t, l.Start())
		_, err := l.Await(t.Context())
		time.Sleep(2 * time.Millisecond) // the second attempt follows at once; meanwhile Err is nil
		if !errors.Is(err, zk.ErrNoAuth) ||
			!strings.HasPrefix(err.Error(), "await leadership in election /e: ") ||
			!errors.Is(l.Err(), zk.ErrNoAuth) {
			t.Errorf("got %v, then %v", err, l.Err())
		}
		for err != nil && errors.Is(err, zk.ErrNoAuth) {
			time.Sleep(time.Second)
			_, err = l.Await(t.Context())
		}
		if err != nil || !l.HasLeadership() || l.Err() != nil {
			t.Errorf("got %v, leads %v, Err %v", err, l.HasLeadership(), l.Err())
		}
		mustClose(t, l)
	})
}

// TestAwaitWithoutStartIsAnError: nobody would ever elect the candidate.
func TestAwaitWithoutStartIsAnError(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l := NewLeaderLatch(c, "/e", "a")
		const want = "await leadership in election /e: it was not started; call Start first"
		check.Contains(t, fmt.Sprint(errOf(l.Await(t.Context()))), want)
		check.Contains(t, fmt.Sprint(l.Do(t.Context(), nil)), want)
		check.OK(t, l.Start())
		mustLead(t, l)
		mustClose(t, l)
		check.Is(t, errOf(l.Await(t.Context())), ErrClosed)
	})
}

func TestAwaitEndsAndTheCandidacyDoesNot(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		first := started(t, NewLeaderLatch(c, "/e", "a"))
		second := started(t, NewLeaderLatch(s.Connect(), "/e", "b"))
		check.Is(t, errOf(second.Await(within(t, time.Second))), context.DeadlineExceeded)
		s.WantBelow(t, "/e", 2)
		mustClose(t, first)
		mustLead(t, second)
		mustClose(t, second)
	})
}

func TestLeaderVanishesBetweenListAndRead(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		first := started(t, NewLeaderLatch(s.Connect(), "/e", "a"))
		second := started(t, NewLeaderLatch(s.Connect(), "/e", "b"))
		c.On("get", 1, rule{Before: func() { mustClose(t, first) }})
		leader, ok, err := NewLeaderLatch(c, "/e", "").Leader(t.Context())
		if leader.ID != "b" || !ok || err != nil {
			t.Errorf("got %v %v %v", leader, ok, err)
		}
		mustClose(t, second)
	})
}
