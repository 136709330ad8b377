package recipes

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

func mustAcquire(t *testing.T, s *Semaphore) *Lease {
	t.Helper()
	l, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustRelease(t *testing.T, leases ...*Lease) {
	t.Helper()
	for _, l := range leases {
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// wantFree checks that only the semaphore's directories are left.
func wantFree(t *testing.T, s *testServer) {
	t.Helper()
	s.WantBelow(t, "/sem/leases", 0)
	s.WantBelow(t, "/sem/lock", 0)
}

func TestSemaphoreLetsSoManyIn(t *testing.T) {
	for _, first := range []int32{0, -5} { // the second as a server of 3.5 leaves it past the wrap
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
			done := make(chan struct{}, 6)
			for range 6 {
				sem := NewSemaphore(s.Connect(), "/sem", 3)
				go func() {
					defer func() { done <- struct{}{} }()
					for range 4 {
						l := mustAcquire(t, sem)
						count(1)
						time.Sleep(time.Second)
						count(-1)
						mustRelease(t, l)
					}
				}()
			}
			for range 6 {
				<-done
			}
			if most != 3 {
				t.Errorf("at most %d at once", most)
			}
			wantFree(t, s)
		})
	}
}

func TestLeasesOfOneHandleCount(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		sem := NewSemaphore(c, "/sem", 2)
		one, two := mustAcquire(t, sem), mustAcquire(t, sem)
		if one.Path() == two.Path() || one.Token() >= two.Token() {
			t.Errorf("%s %d, %s %d", one.Path(), one.Token(), two.Path(), two.Token())
		}
		if l, ok, err := sem.TryAcquire(t.Context()); l != nil || ok || err != nil {
			t.Errorf("TryAcquire: %v %v %v", l, ok, err)
		}
		mustRelease(t, one, one)
		if !closed(one.Lost()) || closed(two.Lost()) {
			t.Error("the wrong lease was lost")
		}
		three, ok, err := sem.TryAcquire(t.Context())
		if three == nil || !ok || err != nil {
			t.Fatalf("TryAcquire: %v %v %v", three, ok, err)
		}
		if err := sem.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := sem.Acquire(t.Context()); !errors.Is(err, ErrClosed) || !closed(three.Lost()) {
			t.Errorf("Acquire after Close: %v", err)
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
		if woken := conns[1].Called("childrenW"); woken != 0 {
			t.Error("the second one in the queue looked at the leases before its turn")
		}
		mustRelease(t, one)
		mustRelease(t, third, <-granted)
		wantFree(t, s)
	})
}

func TestSemaphoreSurvivesFaults(t *testing.T) {
	for _, op := range []string{
		"create", "children", "childrenW", "getW", "get", "sync", "delete",
	} {
		for name, fault := range map[string]rule{
			"reply": loseReply, "net error": netError, "request": loseRequest,
			"no server": noServer,
		} {
			for nth := 1; nth <= 2; nth++ {
				inBubble(t, func(t *testing.T, s *testServer) {
					other := mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 1))
					c := s.Connect()
					c.On(op, nth, fault)
					time.AfterFunc(time.Second, func() { mustRelease(t, other) })
					l := mustAcquire(t, NewSemaphore(c, "/sem", 1))
					s.WantOwner(t, l.Path(), c.SessionID())
					s.WantBelow(t, "/sem/leases", 1)
					mustRelease(t, l)
					if wantFree(t, s); t.Failed() {
						t.Log(op, name, nth)
					}
				})
			}
		}
	}
}

func TestExpiryInAcquireMakesNewLease(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, op := range []string{"create", "children", "getW", "get"} {
			for nth := 1; nth <= 2; nth++ {
				inBubble(t, func(t *testing.T, s *testServer) {
					c := s.Connect()
					sem := NewSemaphore(c, "/sem", 1)
					mustRelease(t, mustAcquire(t, sem))
					end := c.Expire
					if late {
						end = func() { c.ExpireLate(time.Second) }
					}
					c.On(op, nth, rule{After: end})
					l := mustAcquire(t, sem)
					s.WantOwner(t, l.Path(), c.SessionID())
					time.Sleep(2 * time.Second)
					mustRelease(t, l)
					wantFree(t, s)
				})
			}
		}
	}
}

func TestLeaseIsLostWithTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		sem := NewSemaphore(c, "/sem", 1)
		l := mustAcquire(t, sem)
		c.Expire()
		if !closed(l.Lost()) {
			t.Error("not lost")
		}
		next := mustAcquire(t, sem)
		mustRelease(t, l)
		s.WantBelow(t, "/sem/leases", 1) // the new one
		mustRelease(t, next)
		wantFree(t, s)
	})
}

func TestAbandonedAcquireLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		held := mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 1))
		for _, lost := range []string{"getW", "delete"} {
			c := s.Connect()
			sem := NewSemaphore(c, "/sem", 1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			c.On(lost, 1, loseReply)
			if _, err := sem.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) ||
				OutcomeOf(err) != NotApplied {
				t.Errorf("Acquire: %v", err)
			}
			cancel()
			if err := sem.Close(t.Context()); err != nil {
				t.Error(err)
			}
			s.WantBelow(t, "/sem/leases", 1)
			s.WantBelow(t, "/sem/lock", 0)
		}
		mustRelease(t, held)
		wantFree(t, s)
	})
}

// TestLeaseThatComesTooLateIsGivenBack: its caller has left.
func TestLeaseThatComesTooLateIsGivenBack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		sem := NewSemaphore(c, "/sem", 1)
		ctx, cancel := context.WithCancel(t.Context())
		c.On("getW", 2, rule{Before: func() { // the confirmation of the lease
			cancel()
			time.Sleep(time.Millisecond)
		}})
		if l, err := sem.Acquire(ctx); l != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire: %v %v", l, err)
		}
		wantFree(t, s)
	})
}

func TestReleaseWithDoneContextGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		l := mustAcquire(t, NewSemaphore(c, "/sem", 1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c.Disconnect()
		if err := l.Release(ctx); !errors.Is(err, context.Canceled) || OutcomeOf(err) != Unknown ||
			!closed(l.Lost()) {
			t.Errorf("Release: %v", err)
		}
		c.Reconnect()
		mustRelease(t, l)
		wantFree(t, s)
	})
}

func TestHandlesAgreeOnTheNumberOfLeases(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		mustRelease(t, mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 2)))
		for _, n := range []int{1, 3} {
			_, err := NewSemaphore(s.Connect(), "/sem", n).Acquire(t.Context())
			if !errors.Is(err, ErrLeases) || OutcomeOf(err) != NotApplied {
				t.Errorf("%d leases: %v", n, err)
			}
		}
		wantFree(t, s)
	})
}

func TestSemaphoreTakesADirectoryWithoutNumber(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		inBubble(t, func(t *testing.T, s *testServer) {
			s.Seed("/sem", "")
			c := s.Connect()
			c.On("set", 1, fault)
			mustRelease(t, mustAcquire(t, NewSemaphore(c, "/sem", 0)))
			if n, _ := s.Node("/sem"); string(n.Data) != "1" {
				t.Errorf("data %q", n.Data)
			}
			wantFree(t, s)
		})
	}
}

func TestSemaphoreReportsRefusals(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		for _, op := range []string{"get", "create", "children", "getW"} {
			c := s.Connect()
			c.On(op, 1, refusal)
			if _, err := NewSemaphore(c, "/sem", 1).Acquire(t.Context()); !errors.Is(err,
				zk.ErrNoAuth) {
				t.Errorf("%s: %v", op, err)
			}
		}
	})
}

// TestSeveralLeasesAtOnce: calls for several leases never wait for each other, each with half of
// its leases.
func TestSeveralLeasesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		var mu sync.Mutex
		holders, most := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			holders += n
			most = max(most, holders)
		}
		done := make(chan struct{}, 4)
		for i := range 4 {
			sem, want := NewSemaphore(s.Connect(), "/sem", 3), 1+i%3
			go func() {
				defer func() { done <- struct{}{} }()
				for range 5 {
					leases, err := sem.AcquireN(t.Context(), want)
					if err != nil || len(leases) != want {
						t.Errorf("AcquireN: %d of %d, %v", len(leases), want, err)
					}
					count(want)
					time.Sleep(time.Second)
					count(-want)
					mustRelease(t, leases...)
				}
			}()
		}
		for range 4 {
			<-done
		}
		if most != 3 {
			t.Errorf("at most %d at once", most)
		}
		wantFree(t, s)
	})
}

func TestSeveralLeasesOrNone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		other := mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 2))
		c := s.Connect()
		sem := NewSemaphore(c, "/sem", 2)
		for _, n := range []int{-1, 0, 3} {
			if leases, err := sem.AcquireN(t.Context(), n); leases != nil ||
				!errors.Is(err, ErrLeases) ||
				OutcomeOf(err) != NotApplied {
				t.Errorf("AcquireN(%d): %v %v", n, leases, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if leases, err := sem.AcquireN(ctx, 2); leases != nil ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("AcquireN: %v %v", leases, err)
		}
		s.WantBelow(t, "/sem/leases", 1)
		// A lease that is lost during the wait for the others is acquired again.
		time.AfterFunc(time.Minute, func() { c.Expire() })
		time.AfterFunc(2*time.Minute, func() { mustRelease(t, other) })
		leases, err := sem.AcquireN(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leases {
			if s.WantOwner(t, l.Path(), c.SessionID()); closed(l.Lost()) {
				t.Error("lost")
			}
		}
		// The first lease is deleted during the wait for the second.
		mustRelease(t, leases[1])
		time.AfterFunc(time.Minute, func() {
			queue := sortNumbered(s.Below("/sem/leases"), leaseMarker)
			s.Delete(join("/sem/leases", queue[1].name))
		})
		time.AfterFunc(2*time.Minute, func() { mustRelease(t, leases[0]) })
		both, err := sem.AcquireN(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range both {
			s.WantOwner(t, l.Path(), c.SessionID())
		}
		mustRelease(t, both...)
		wantFree(t, s)
	})
}

// TestNobodyGathersLeasesBesideAnother: each caller would have one lease, and wait for the other.
func TestNobodyGathersLeasesBesideAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		mustRelease(t, mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 2)))
		done := make(chan error, 2)
		both := func(c *testConn) {
			leases, err := NewSemaphore(c, "/sem", 2).AcquireN(t.Context(), 2)
			mustRelease(t, leases...)
			done <- err
		}
		c := s.Connect()
		c.On("create", 3, rule{Before: func() { // after the turn and the first lease
			go both(s.Connect())
			time.Sleep(time.Minute)
		}})
		both(c)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		wantFree(t, s)
	})
}

// TestNobodyGathersLeasesWithoutTheTurn: the turn ended with its session, or was deleted.
func TestNobodyGathersLeasesWithoutTheTurn(t *testing.T) {
	for name, lose := range map[string]func(s *testServer, c *testConn){
		"expiry": func(_ *testServer, c *testConn) { c.Expire() },
		"deleted": func(s *testServer, _ *testConn) {
			turn := s.Below("/sem/lock")[0]
			s.Delete(join("/sem/lock", turn))
		},
	} {
		t.Run(name, func(t *testing.T) { gathersWithoutTheTurn(t, lose) })
	}
}

func gathersWithoutTheTurn(t *testing.T, lose func(s *testServer, c *testConn)) {
	inBubble(t, func(t *testing.T, s *testServer) {
		mustRelease(t, mustAcquire(t, NewSemaphore(s.Connect(), "/sem", 2)))
		done := make(chan error, 2)
		both := func(c *testConn) {
			leases, err := NewSemaphore(c, "/sem", 2).AcquireN(t.Context(), 2)
			mustRelease(t, leases...)
			done <- err
		}
		c, other := s.Connect(), s.Connect()
		c.On("create", 2, rule{Before: func() { // after the turn
			lose(s, c)
			go both(other)
			time.Sleep(time.Minute)
		}})
		other.On("create", 3, rule{Before: func() { time.Sleep(2 * time.Minute) }})
		both(c)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		wantFree(t, s)
	})
}

// TestRetryPolicyBoundsTheNumberOfLeases: a policy ends the request that writes the number of
// leases.
func TestRetryPolicyBoundsTheNumberOfLeases(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/sem", "")
		c := s.Connect()
		for range 100 {
			c.On("set", 1, loseRequest)
		}
		sem := NewSemaphore(c, "/sem", 1, Retry(RetryFixed(time.Millisecond, 3)))
		if _, err := sem.Acquire(t.Context()); !errors.Is(err, ErrGaveUp) || c.Called("set") != 3 {
			t.Errorf("Acquire: %v after %d tries", err, c.Called("set"))
		}
	})
}
