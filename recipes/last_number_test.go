package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// own waits for the ownership of something, and returns the function that gives it back.
type own func(ctx context.Context, c Conn) (giveBack func(ctx context.Context) error, err error)

func ownWriteLock(ctx context.Context, c Conn) (func(context.Context) error, error) {
	l := classic.NewWriteLock(c, "/locks/a", nil)
	for {
		if owned, err := l.Lock(ctx); owned || err != nil {
			return l.Unlock, err
		}
		time.Sleep(time.Second)
	}
}

func ownLatch(ctx context.Context, c Conn) (func(context.Context) error, error) {
	l := NewLeaderLatch(c, "/locks/a", "")
	if err := l.Start(); err != nil {
		return nil, err
	}
	if _, err := l.Await(ctx); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	return l.Close, nil
}

// TestNobodyOwnsThroughTheLastNumber: with three numbers left, three of the contenders own, one
// after the other, and the others get an error. After the directory is deleted, all can own again.
func TestNobodyOwnsThroughTheLastNumber(t *testing.T) {
	kinds := map[string]own{"WriteLock": ownWriteLock, "LeaderLatch": ownLatch}
	for _, k := range lockKinds {
		kinds[k.name] = func(ctx context.Context, c Conn) (func(context.Context) error, error) {
			l := k.open(c)
			return l.Unlock, l.Lock(ctx)
		}
	}
	for _, unnumbered := range []string{
		"HerdLock", "VersionRWLock, writing", "VersionRWLock, reading", "RWLock, reading",
	} {
		delete(kinds, unnumbered) // or shared
	}
	for name, own := range kinds {
		for _, left := range []int32{3, 0} {
			t.Run(fmt.Sprint(name, left), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					dirs := []string{"/locks/a"}
					if name == "Semaphore" {
						dirs = []string{"/locks/a/lock", "/locks/a/leases"}
					}
					s.Number(math.MaxInt32-left, dirs...)
					check.Equal(t, ownAtOnce(t, s, own), int(left),
						"owners, %d numbers were left", left)
					for _, dir := range dirs {
						s.WantBelow(t, dir, 0)
						s.Delete(dir)
					}
					check.Equal(t, ownAtOnce(t, s, own), 6, "owners in the new directory")
				})
			})
		}
	}
}

// ownAtOnce starts six contenders, and returns the number of those that have owned.
func ownAtOnce(t *testing.T, s *testServer, own own) (total int) {
	var mu sync.Mutex
	owners := 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if owners += n; owners > 1 {
			t.Errorf("%d owners", owners)
		}
		total += max(n, 0)
	}
	var all sync.WaitGroup
	for range 6 {
		c := s.Connect()
		all.Go(func() {
			giveBack, err := own(t.Context(), c)
			if errors.Is(err, ErrNumbersUsedUp) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			count(1)
			time.Sleep(time.Minute)
			count(-1)
			mustDo(t, giveBack(t.Context()))
		})
	}
	all.Wait()
	return total
}

// TestNoReaderHasTheLastNumber: a reader at the place of its write lock needs no number.
func TestNoReaderHasTheLastNumber(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Number(math.MaxInt32-1, "/l")
		l, late := NewRWLock(c, "/l"), NewRWLock(s.Connect(), "/l")
		mustLock(t, l)
		mustDo(t, l.RLock(t.Context()))
		mustUnlock(t, l)
		check.Is(t, late.RLock(t.Context()), ErrNumbersUsedUp)
		mustDo(t, l.RUnlock(t.Context()))
		s.WantBelow(t, "/l", 0)
	})
}

// TestNobodyLeadsWithTheLastNumber: a candidate that has not withdrawn yet is no leader.
func TestNobodyLeadsWithTheLastNumber(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Number(math.MaxInt32, "/l")
		_, err := s.Connect().Create(
			"/l/_c_x-latch-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		mustDo(t, err)
		latch := NewLeaderLatch(c, "/l", "")
		leader, ok, err := latch.Leader(t.Context())
		check.OK(t, err)
		check.Equal(t, ok, false, "%v leads", leader)
		list, err := latch.Participants(t.Context())
		check.OK(t, err)
		check.Equal(t, len(list), 0, "candidates")
	})
}

// TestQueueRefusesWhatHasTheLastNumber, and keeps the order of all others.
func TestQueueRefusesWhatHasTheLastNumber(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		everyQueue(t, func(t *testing.T, s *testServer, newQueue func(Conn) queuer) {
			s.Number(math.MaxInt32-2, "/q/items")
			c := s.Connect()
			q := newQueue(c)
			mustOffer(t, q, "first")
			mustOffer(t, q, "second")
			c.On("multi", 1, fault)
			wantFailure(t, q.Offer(t.Context(), []byte("third")), ErrNumbersUsedUp, NotApplied)
			wantInTurn(t, q, "first", "second")
			wantTidy(t, s)
			s.Delete("/q/items")
			mustOffer(t, q, "new")
			wantInTurn(t, q, "new")
			wantTidy(t, s)
		})
	}
}

// TestRefusalOfATakenElement: an offer succeeds if another client takes its element before it can
// be taken back.
func TestRefusalOfATakenElement(t *testing.T) {
	for _, tc := range []struct {
		about   string
		fault   rule
		taken   bool
		want    error
		outcome Outcome
	}{
		{"taken", rule{}, true, nil, Applied},
		{"the deletion is repeated", loseRequest, false, ErrNumbersUsedUp, NotApplied},
		{"the reply to the deletion is lost", loseReply, false, ErrNumbersUsedUp, Unknown},
		{"the deletion is refused", refusal, false, zk.ErrNoAuth, Unknown},
	} {
		t.Run(tc.about, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				s.Number(math.MaxInt32, "/q/items")
				taker := NewQueue(s.Connect(), "/q")
				if tc.taken {
					tc.fault.Before = func() { wantPoll(t, taker, "e") }
				}
				c.On("delete", 1, tc.fault)
				err := NewQueue(c, "/q").Offer(t.Context(), []byte("e"))
				wantFailure(t, err, tc.want, tc.outcome)
				wantTidy(t, s)
			})
		})
	}
}

// TestLockQueueKeepsWhatWasDelivered: an element with the last number stays if it was delivered.
func TestLockQueueKeepsWhatWasDelivered(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Number(math.MaxInt32, "/q/items")
		q, taker := NewLockQueue(c, "/q"), NewLockQueue(s.Connect(), "/q")
		var d *Delivery
		c.On("delete", 1, rule{Before: func() { d = mustDeliver(t, taker, "e") }})
		mustDo(t, q.Offer(t.Context(), []byte("e")))
		mustDo(t, d.Ack(t.Context()))
		check.Is(t, q.Offer(t.Context(), []byte("f")), ErrNumbersUsedUp)
		s.WantBelow(t, "/q/items", 0)
	})
}

// TestOfferWithoutTheRightToList: a client that may add elements but not list them is not refused
// after a lost reply.
func TestOfferWithoutTheRightToList(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		q := NewQueue(c, "/q")
		mustOffer(t, q, "first")
		s.Forbid("/q/items")
		c.On("multi", 1, loseReply)
		mustOffer(t, q, "second")
		s.WantBelow(t, "/q/items", 2)
	})
}

// TestProtectedCreationRefusesTheLastNumber: of each kind that has one.
func TestProtectedCreationRefusesTheLastNumber(t *testing.T) {
	for _, kind := range []NodeKind{EphemeralSequential, PersistentSequential} {
		for _, fault := range []rule{{}, loseReply} {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				s.Number(math.MaxInt32, "/d")
				c.On("create", 1, fault)
				_, err := CreateProtected(t.Context(), c, "/d", "n-", nil, kind)
				wantFailure(t, err, ErrNumbersUsedUp, NotApplied)
				s.WantBelow(t, "/d", 0)
			})
		}
	}
}
