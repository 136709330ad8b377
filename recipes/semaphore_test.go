package recipes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/request"
)

func mustAcquire(t *testing.T, s *Semaphore) *Lease {
	t.Helper()
	l, err := s.Acquire(t.Context())
	check.OK(t, err)
	return l
}

func mustRelease(t *testing.T, leases ...*Lease) {
	t.Helper()
	for _, l := range leases {
		mustDo(t, l.Release(t.Context()))
	}
}

// wantFree checks that only the semaphore's directories are left.
func wantFree(t *testing.T, s *testServer) {
	t.Helper()
	s.WantBelow(t, "/sem/leases", 0)
	s.WantBelow(t, "/sem/lock", 0)
}

// TestSemaphoreLetsSoManyIn: calls for several leases never wait for each other, each with half of
// its leases.
func TestSemaphoreLetsSoManyIn(t *testing.T) {
	for _, first := range []int32{0, -5} { // the second as a server of 3.5 leaves it past the wrap
		for _, atOnce := range []int{1, 3} {
			inBubble(t, func(t *testing.T, s *testServer) {
				s.NumberFrom(first)
				var mu sync.Mutex
				holders, most := 0, 0
				count := func(n int) {
					mu.Lock()
					defer mu.Unlock()
					holders += n
					most = max(most, holders)
				}
				var all sync.WaitGroup
				for i := range 5 {
					sem, n := NewSemaphore(s.Connect(), "/sem", 3), 1+i%atOnce
					all.Go(func() {
						for range 4 {
							leases, err := sem.AcquireN(t.Context(), n)
							if err != nil || len(leases) != n {
								t.Errorf("AcquireN: %d of %d, %v", len(leases), n, err)
							}
							count(n)
							time.Sleep(time.Second)
							count(-n)
							mustRelease(t, leases...)
						}
					})
				}
				if all.Wait(); most != 3 {
					t.Errorf("at most %d at once", most)
				}
				wantFree(t, s)
			})
		}
	}
}

func TestLeasesOfOneHandleCount(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		sem := NewSemaphore(c, "/sem", 2)
		wantTry := func(want bool) *Lease {
			l, ok, err := sem.TryAcquire(t.Context())
			if ok != want || (l != nil) != want || err != nil {
				t.Fatalf("TryAcquire: %v %v %v", l, ok, err)
			}
			return l
		}
		one, two := mustAcquire(t, sem), mustAcquire(t, sem)
		if one.Path() == two.Path() || one.Token() >= two.Token() {
			t.Errorf("%s %d, %s %d", one.Path(), one.Token(), two.Path(), two.Token())
		}
		wantTry(false)
		mustRelease(t, one, one)
		if !closed(one.Lost()) || closed(two.Lost()) {
			t.Error("the wrong lease was lost")
		}
		three := wantTry(true)
		mustClose(t, sem)
		if !closed(three.Lost()) {
			t.Error("held after Close")
		}
		wantFree(t, s)
	})
}

// TestAnyReleaseServesTheOneWhoWaits, and wakes no other client.
func TestAnyReleaseServesTheOneWhoWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		holder := NewSemaphore(s.Connect(), "/sem", 2)
		one, two := mustAcquire(t, holder), mustAcquire(t, holder)
		var conns []*testConn
		granted := make(chan *Lease, 2)
		for range 2 {
			c := s.Connect()
			conns = append(conns, c)
			go func() { granted <- mustAcquire(t, NewSemaphore(c, "/sem", 2)) }()
			time.Sleep(time.Second)
		}
		mustRelease(t, two) // not the oldest
		third := <-granted
		synctest.Wait()
		check.Equal(t, conns[1].Called("childrenW"), 0,
			"the second one in the queue looked at the leases before its turn")
		mustRelease(t, one)
		mustRelease(t, third, <-granted)
		wantFree(t, s)
	})
}

// TestLeaseThatComesTooLateIsGivenBack: its caller has left.
func TestLeaseThatComesTooLateIsGivenBack(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		ctx, cancel := context.WithCancel(t.Context())
		c.On("getW", 2, rule{Before: func() { // the confirmation of the lease
			cancel()
			time.Sleep(time.Millisecond)
		}})
		_, err := NewSemaphore(c, "/sem", 1).Acquire(ctx)
		check.Is(t, err, context.Canceled)
		wantFree(t, s)
	})
}

func TestHandlesAgreeOnTheNumberOfLeases(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		mustRelease(t, mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 2)))
		for _, n := range []int{1, 3} {
			_, err := NewSemaphore(s.Connect(), "/sem", n).Acquire(t.Context())
			wantFailure(t, err, ErrLeases, NotApplied)
		}
		wantFree(t, s)
	})
}

func TestSemaphoreTakesADirectoryWithoutNumber(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			s.Seed("/sem", "")
			c.On("set", 1, fault)
			mustRelease(t, mustAcquire(t, NewSemaphore(c, "/sem", 0)))
			s.WantNode(t, "/sem", "1", 0)
			wantFree(t, s)
		})
	}
}

func TestSeveralLeasesOrNone(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		other := mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 2))
		sem := NewSemaphore(c, "/sem", 2)
		for _, n := range []int{-1, 0, 3} {
			_, err := sem.AcquireN(t.Context(), n)
			wantFailure(t, err, ErrLeases, NotApplied)
		}
		leases, err := sem.AcquireN(within(t, time.Minute), 2)
		if check.Is(t, err, context.DeadlineExceeded); leases != nil {
			t.Errorf("leases %v", leases)
		}
		s.WantBelow(t, "/sem/leases", 1)
		mustBoth := func() []*Lease {
			t.Helper()
			leases, err := sem.AcquireN(t.Context(), 2)
			check.OK(t, err)
			for _, l := range leases {
				if s.WantOwner(t, l.Path(), c.SessionID()); closed(l.Lost()) {
					t.Error("lost")
				}
			}
			return leases
		}
		// A lease that is lost during the wait for the others is acquired again.
		time.AfterFunc(time.Minute, func() { c.Expire() })
		time.AfterFunc(2*time.Minute, func() { mustRelease(t, other) })
		leases = mustBoth()
		// The first lease is deleted during the wait for the second.
		mustRelease(t, leases[1])
		time.AfterFunc(time.Minute, func() {
			queue := request.SortNumbered(s.Below("/sem/leases"), "lease-")
			s.Delete(request.Join("/sem/leases", queue[1].Name))
		})
		time.AfterFunc(2*time.Minute, func() { mustRelease(t, leases[0]) })
		mustRelease(t, mustBoth()...)
		wantFree(t, s)
	})
}

// TestNobodyGathersLeasesBesideAnother: each caller would have one lease, and wait for the other.
// The first has its turn, loses it because the session has ended or the node was deleted, or keeps
// it.
func TestNobodyGathersLeasesBesideAnother(t *testing.T) {
	for name, tc := range map[string]struct {
		create int // request before which the other begins: after the turn, and after a lease
		lose   func(s *testServer, c *testConn)
	}{
		"nothing": {3, func(*testServer, *testConn) {}},
		"expiry":  {2, func(_ *testServer, c *testConn) { c.Expire() }},
		"deleted": {2, func(s *testServer, _ *testConn) {
			s.Delete(request.Join("/sem/lock", s.Below("/sem/lock")[0]))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				mustRelease(t, mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 2)))
				ended, other := make(chan error, 2), s.Connect()
				both := func(c *testConn) {
					leases, err := NewSemaphore(c, "/sem", 2).AcquireN(t.Context(), 2)
					mustRelease(t, leases...)
					ended <- err
				}
				c.On("create", tc.create, rule{Before: func() {
					tc.lose(s, c)
					go both(other)
					time.Sleep(time.Minute)
				}})
				other.On("create", 3, rule{Before: func() { time.Sleep(2 * time.Minute) }})
				both(c)
				mustDo(t, errors.Join(<-ended, <-ended))
				wantFree(t, s)
			})
		})
	}
}
