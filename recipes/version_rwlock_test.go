package recipes

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

func TestVersionRWLockExcludes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
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
			l := NewVersionRWLock(s.connect(), "/v")
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
		s.wantBelow(t, "/v", 0)
	})
}

// TestEntranceNoticesWhoCameMeanwhile: to look and to enter is one step.
func TestEntranceNoticesWhoCameMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c, other := s.connect(), NewVersionRWLock(s.connect(), "/v")
		l := NewVersionRWLock(c, "/v")
		c.on("multi", 1, rule{before: func() {
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
		s.wantBelow(t, "/v", 0)
	})
}

func TestVersionRWLockSurvivesFaults(t *testing.T) {
	for _, op := range []string{"get", "children", "multi", "getW", "create", "sync", "delete"} {
		for name, fault := range map[string]rule{"reply": loseReply, "net error": netError, "request": loseRequest, "no server": noServer} {
			inBubble(t, func(t *testing.T, s *fakeServer) {
				c := s.connect()
				l := NewVersionRWLock(c, "/v")
				c.on(op, 1, fault)
				mustLock(t, l)
				s.wantOwner(t, l.Path(), c.SessionID())
				s.wantBelow(t, "/v", 1)
				mustUnlock(t, l)
				if s.wantBelow(t, "/v", 0); t.Failed() {
					t.Log(op, name)
				}
			})
		}
	}
}

func TestVersionRWLockGoesOverToReading(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		l, other := NewVersionRWLock(c, "/v"), NewVersionRWLock(s.connect(), "/v")
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
		c.on("multi", 1, rule{before: func() { c.expire(false) }})
		if err := l.RLock(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("RLock of what is lost: %v", err)
		}
		mustUnlock(t, l)
		s.wantBelow(t, "/v", 0)
	})
}

func TestEntranceReportsRefusals(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		for _, op := range []string{"get", "create", "children", "multi", "getW"} {
			c := s.connect()
			c.on(op, 1, rule{lose: true, err: zk.ErrNoAuth})
			if err := NewVersionRWLock(c, "/v").Lock(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
				t.Errorf("%s: %v", op, err)
			}
		}
		s.wantBelow(t, "/v", 0)
	})
}

// setVersion gives a node a version, as many changes would.
func (s *fakeServer) setVersion(path string, version int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[path]
	n.stat.Version = version
	s.nodes[path] = n
}

// TestEntranceAtVersionMinusOne, which a set takes for any version (CURATOR-688).
func TestEntranceAtVersionMinusOne(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest} {
		inBubble(t, func(t *testing.T, s *fakeServer) {
			c, other := s.connect(), NewVersionRWLock(s.connect(), "/v")
			mustLock(t, other)
			mustUnlock(t, other)
			s.setVersion("/v", -1)
			l := NewVersionRWLock(c, "/v")
			c.on("set", 1, fault)
			c.on("multi", 1, rule{before: func() { mustLock(t, other) }})
			if held, err := l.TryLock(t.Context()); held || err != nil {
				t.Errorf("TryLock beside a writer: %v %v", held, err)
			}
			if err := errors.Join(l.Close(t.Context()), other.Close(t.Context())); err != nil {
				t.Error(err)
			}
			s.wantBelow(t, "/v", 0)
		})
	}
}
