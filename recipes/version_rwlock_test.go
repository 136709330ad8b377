package recipes

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

func TestVersionRWLockExcludes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		var mu sync.Mutex
		readers, writers := 0, 0
		count := func(who *int, n int) {
			mu.Lock()
			defer mu.Unlock()
			if *who += n; writers > 1 || writers == 1 && readers > 0 {
				t.Errorf("%d readers, %d writers", readers, writers)
			}
		}
		done := make(chan struct{}, 4)
		for i := range 4 {
			l := NewVersionRWLock(s.Connect(), "/v")
			go func() {
				defer func() { done <- struct{}{} }()
				for round := range 6 {
					lock, unlock, n := l.RLock, l.RUnlock, &readers
					if (i+round)%2 == 0 {
						lock, unlock, n = l.Lock, l.Unlock, &writers
					}
					if err := lock(t.Context()); err != nil {
						t.Error(err)
					}
					count(n, 1)
					time.Sleep(time.Second)
					count(n, -1)
					if err := unlock(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		for range 4 {
			<-done
		}
		s.WantBelow(t, "/v", 0)
	})
}

// TestEntranceNoticesWhoCameMeanwhile: the look and the entry are one step.
func TestEntranceNoticesWhoCameMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c, other := s.Connect(), NewVersionRWLock(s.Connect(), "/v")
		l := NewVersionRWLock(c, "/v")
		c.On("multi", 1, rule{Before: func() {
			if err := other.RLock(t.Context()); err != nil {
				t.Error(err)
			}
		}})
		if held, err := l.TryLock(t.Context()); held || err != nil {
			t.Errorf("TryLock: %v %v", held, err)
		}
		if held, err := l.TryRLock(t.Context()); !held || err != nil {
			t.Errorf("TryRLock: %v %v", held, err)
		}
		if err := errors.Join(l.Close(t.Context()), other.Close(t.Context())); err != nil {
			t.Error(err)
		}
		s.WantBelow(t, "/v", 0)
	})
}

func TestVersionRWLockSurvivesFaults(t *testing.T) {
	for _, op := range []string{"get", "children", "multi", "getW", "create", "sync", "delete"} {
		for name, fault := range map[string]rule{
			"reply": loseReply, "net error": netError, "request": loseRequest,
			"no server": noServer,
		} {
			inBubble(t, func(t *testing.T, s *testServer) {
				c := s.Connect()
				l := NewVersionRWLock(c, "/v")
				c.On(op, 1, fault)
				mustLock(t, l)
				s.WantOwner(t, l.Path(), c.SessionID())
				s.WantBelow(t, "/v", 1)
				mustUnlock(t, l)
				if s.WantBelow(t, "/v", 0); t.Failed() {
					t.Log(op, name)
				}
			})
		}
	}
}

func TestVersionRWLockGoesOverToReading(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		l, other := NewVersionRWLock(c, "/v"), NewVersionRWLock(s.Connect(), "/v")
		mustLock(t, l)
		if err := l.RLock(t.Context()); err != nil || l.RToken() <= l.Token() {
			t.Fatalf("RLock: %v, tokens %d and %d", err, l.RToken(), l.Token())
		}
		mustUnlock(t, l)
		if held, err := other.TryLock(t.Context()); held || err != nil {
			t.Errorf("TryLock: %v %v", held, err)
		}
		if err := l.Lock(t.Context()); !errors.Is(err, ErrUpgrade) {
			t.Errorf("Lock: %v", err)
		}
		if err := l.RUnlock(t.Context()); err != nil {
			t.Error(err)
		}
		mustLock(t, l)
		c.On("multi", 1, rule{Before: func() { c.Expire() }})
		if err := l.RLock(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("RLock of what is lost: %v", err)
		}
		mustUnlock(t, l)
		s.WantBelow(t, "/v", 0)
	})
}

func TestEntranceReportsRefusals(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		for _, op := range []string{"get", "create", "children", "multi", "getW"} {
			c := s.Connect()
			c.On(op, 1, refusal)
			if err := NewVersionRWLock(c, "/v").Lock(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
				t.Errorf("%s: %v", op, err)
			}
		}
		s.WantBelow(t, "/v", 0)
	})
}

// TestEntranceAtVersionMinusOne, which a set takes for any version (CURATOR-688).
func TestEntranceAtVersionMinusOne(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		inBubble(t, func(t *testing.T, s *testServer) {
			c, other := s.Connect(), NewVersionRWLock(s.Connect(), "/v")
			mustLock(t, other)
			mustUnlock(t, other)
			s.SetVersion("/v", -1)
			l := NewVersionRWLock(c, "/v")
			c.On("set", 1, fault)
			c.On("multi", 1, rule{Before: func() { mustLock(t, other) }})
			if held, err := l.TryLock(t.Context()); held || err != nil {
				t.Errorf("TryLock beside a writer: %v %v", held, err)
			}
			if err := errors.Join(l.Close(t.Context()), other.Close(t.Context())); err != nil {
				t.Error(err)
			}
			s.WantBelow(t, "/v", 0)
		})
	}
}
