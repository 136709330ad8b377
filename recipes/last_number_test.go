package recipes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

func TestLastNumber(t *testing.T) {
	for seq, unique := range map[int32]bool{
		0: true, 1: true, -1: true, math.MaxInt32 - 1: true, math.MaxInt32: false,
		math.MinInt32: false, math.MinInt32 + 1<<16 - 1: false, math.MinInt32 + 1<<16: true,
	} {
		if err := lastNumber("/d", seq); (err == nil) != unique ||
			err != nil && !errors.Is(err, ErrNumbersUsedUp) {
			t.Errorf("%d: %v", seq, err)
		}
	}
}

// numberedOwners are all recipes with ownership through a numbered node. own waits for ownership,
// and returns the function that gives it back.
var numberedOwners = map[string]struct {
	dirs []string
	own  func(ctx context.Context, c Conn) (giveBack func(ctx context.Context) error, err error)
}{
	"Lock":      {[]string{"/l"}, lockOwner(func(c Conn) locker { return NewLock(c, "/l") })},
	"WriteLock": {[]string{"/l"}, ownWriteLock},
	"ReentrantLock": {
		[]string{"/l"}, lockOwner(func(c Conn) locker { return NewReentrantLock(c, "/l") }),
	},
	"RevocableLock": {
		[]string{"/l"}, lockOwner(func(c Conn) locker { return NewRevocableLock(c, "/l") }),
	},
	"RWLock":    {[]string{"/l"}, lockOwner(func(c Conn) locker { return NewRWLock(c, "/l") })},
	"TurnQueue": {[]string{"/l"}, lockOwner(func(c Conn) locker { return NewTurnQueue(c, "/l") })},
	"MultiLock": {
		[]string{"/l"}, lockOwner(func(c Conn) locker { return NewMultiLock(c, []string{"/l"}) }),
	},
	"Semaphore":   {[]string{"/l/lock", "/l/leases"}, ownLease},
	"LeaderLatch": {[]string{"/l"}, ownLatch},
}

func lockOwner(
	newLock func(Conn) locker,
) func(context.Context, Conn) (func(context.Context) error, error) {
	return func(ctx context.Context, c Conn) (func(context.Context) error, error) {
		l := newLock(c)
		return l.Unlock, l.Lock(ctx)
	}
}

func ownWriteLock(ctx context.Context, c Conn) (func(context.Context) error, error) {
	l := NewWriteLock(c, "/l", nil)
	for {
		if owned, err := l.Lock(ctx); owned || err != nil {
			return l.Unlock, err
		}
		time.Sleep(time.Second)
	}
}

func ownLease(ctx context.Context, c Conn) (func(context.Context) error, error) {
	l, err := NewSemaphore(c, "/l", 1).Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return l.Release, nil
}

func ownLatch(ctx context.Context, c Conn) (func(context.Context) error, error) {
	l := NewLeaderLatch(c, "/l", "")
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
	for name, kind := range numberedOwners {
		for _, left := range []int32{3, 0} {
			t.Run(fmt.Sprint(name, left), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					s.Number(math.MaxInt32-left, kind.dirs...)
					if got := ownAtOnce(t, s, kind.own); got != int(left) {
						t.Errorf("%d have owned, %d numbers were left", got, left)
					}
					for _, dir := range kind.dirs {
						s.WantBelow(t, dir, 0)
						if err := s.Connect().Delete(dir, -1); err != nil &&
							!errors.Is(err, zk.ErrNoNode) {
							t.Error(err)
						}
					}
					if got := ownAtOnce(t, s, kind.own); got != 6 {
						t.Errorf("%d have owned in the new directory", got)
					}
				})
			})
		}
	}
}

// ownAtOnce starts six contenders, and returns the number of those that have owned.
func ownAtOnce(
	t *testing.T, s *testServer,
	own func(context.Context, Conn) (func(context.Context) error, error),
) (total int) {
	var mu sync.Mutex
	owners := 0
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
			mu.Lock()
			total++
			if owners++; owners > 1 {
				t.Errorf("%d owners", owners)
			}
			mu.Unlock()
			time.Sleep(time.Minute)
			mu.Lock()
			owners--
			mu.Unlock()
			if err := giveBack(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return total
}

// TestNoReaderHasTheLastNumber: a reader at the place of its write lock needs no number.
func TestNoReaderHasTheLastNumber(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Number(math.MaxInt32-1, "/l")
		l, late := NewRWLock(s.Connect(), "/l"), NewRWLock(s.Connect(), "/l")
		mustLock(t, l)
		if err := l.RLock(t.Context()); err != nil {
			t.Errorf("beside the write lock: %v", err)
		}
		mustUnlock(t, l)
		if err := late.RLock(t.Context()); !errors.Is(err, ErrNumbersUsedUp) {
			t.Errorf("RLock: %v", err)
		}
		mustRUnlock(t, l)
		s.WantBelow(t, "/l", 0)
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
			if err := q.Offer(t.Context(), []byte("third")); !errors.Is(err, ErrNumbersUsedUp) ||
				OutcomeOf(err) != NotApplied {
				t.Errorf("Offer: %v", err)
			}
			wantPoll(t, q, "first")
			wantPoll(t, q, "second")
			wantPoll(t, q, "")
			wantTidy(t, s)
			if err := c.Delete("/q/items", -1); err != nil {
				t.Error(err)
			}
			mustOffer(t, q, "new")
			wantPoll(t, q, "new")
			wantTidy(t, s)
		})
	}
}

// TestRefusalOfATakenElement: an offer succeeds if another client takes its element before it can
// be taken back.
func TestRefusalOfATakenElement(t *testing.T) {
	for _, c := range []struct {
		about string
		fault rule
		taken bool
		want  func(error) bool
	}{
		{"taken", rule{}, true, func(err error) bool { return err == nil }},
		{
			"the deletion is repeated", loseRequest, false, func(err error) bool {
				return errors.Is(err, ErrNumbersUsedUp) && OutcomeOf(err) == NotApplied
			},
		},
		{
			"the reply to the deletion is lost", loseReply, false, func(err error) bool {
				return errors.Is(err, ErrNumbersUsedUp) && errors.Is(err, ErrAmbiguous)
			},
		},
		{
			"the deletion is refused", refusal, false, func(err error) bool {
				return errors.Is(err, zk.ErrNoAuth) && errors.Is(err, ErrAmbiguous)
			},
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				s.Number(math.MaxInt32, "/q/items")
				offerer, taker := s.Connect(), NewQueue(s.Connect(), "/q")
				if c.taken {
					c.fault.Before = func() { wantPoll(t, taker, "e") }
				}
				offerer.On("delete", 1, c.fault)
				if err := NewQueue(offerer, "/q").Offer(t.Context(), []byte("e")); !c.want(err) {
					t.Errorf("Offer: %v", err)
				}
				wantTidy(t, s)
			})
		})
	}
}

// TestLockQueueKeepsWhatWasDelivered: an element with the last number stays if it was delivered.
func TestLockQueueKeepsWhatWasDelivered(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Number(math.MaxInt32, "/q/items")
		offerer, taker := s.Connect(), NewLockQueue(s.Connect(), "/q")
		var d *Delivery
		offerer.On("delete", 1, rule{Before: func() {
			var ok bool
			var err error
			if d, ok, err = taker.Poll(t.Context()); !ok || err != nil {
				t.Fatalf("Poll: %v %v", ok, err)
			}
		}})
		if err := NewLockQueue(offerer, "/q").Offer(t.Context(), []byte("e")); err != nil {
			t.Errorf("Offer: %v", err)
		}
		if err := d.Ack(t.Context()); err != nil {
			t.Errorf("Ack: %v", err)
		}
		if err := NewLockQueue(offerer, "/q").Offer(t.Context(), []byte("f")); !errors.Is(
			err, ErrNumbersUsedUp,
		) {
			t.Errorf("Offer: %v", err)
		}
		s.WantBelow(t, "/q/items", 0)
	})
}

// TestOfferWithoutTheRightToList: a client that may add elements but not list them is not refused
// after a lost reply.
func TestOfferWithoutTheRightToList(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
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
			inBubble(t, func(t *testing.T, s *testServer) {
				s.Number(math.MaxInt32, "/d")
				c := s.Connect()
				c.On("create", 1, fault)
				if _, err := CreateProtected(
					t.Context(), c, "/d", "n-", nil, kind,
				); !errors.Is(err, ErrNumbersUsedUp) || OutcomeOf(err) != NotApplied {
					t.Errorf("kind %d: %v", kind, err)
				}
				s.WantBelow(t, "/d", 0)
			})
		}
	}
}
