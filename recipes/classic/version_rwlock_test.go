package classic

import (
	"errors"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// TestEntranceNoticesWhoCameMeanwhile: the look and the entry are one step.
func TestEntranceNoticesWhoCameMeanwhile(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testServer) {
		c, other := s.Connect(), NewVersionRWLock(s.Connect(), "/v")
		l := NewVersionRWLock(c, "/v")
		c.On("multi", 1, rule{Before: func() {
			mustDo(t, other.RLock(t.Context()))
		}})
		wantTry(t, l, false)
		if held, err := l.TryRLock(t.Context()); !held || err != nil {
			t.Errorf("TryRLock: %v %v", held, err)
		}
		mustDo(t, errors.Join(l.Close(t.Context()), other.Close(t.Context())))
		s.WantBelow(t, "/v", 0)
	})
}

func TestVersionRWLockGoesOverToReading(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l, other := NewVersionRWLock(c, "/v"), NewVersionRWLock(s.Connect(), "/v")
		mustDo(t, l.Lock(t.Context()))
		if err := l.RLock(t.Context()); err != nil || l.RToken() <= l.Token() {
			t.Fatalf("RLock: %v, tokens %d and %d", err, l.RToken(), l.Token())
		}
		mustDo(t, l.Unlock(t.Context()))
		wantTry(t, other, false)
		check.Is(t, l.Lock(t.Context()), recipes.ErrUpgrade)
		mustDo(t, l.RUnlock(t.Context()))
		mustDo(t, l.Lock(t.Context()))
		c.On("multi", 1, rule{Before: func() { c.Expire() }})
		check.Is(t, l.RLock(t.Context()), recipes.ErrLost)
		mustDo(t, l.Unlock(t.Context()))
		s.WantBelow(t, "/v", 0)
	})
}

// TestEntranceAtVersionMinusOne, which a set takes for any version (CURATOR-688).
func TestEntranceAtVersionMinusOne(t *testing.T) {
	for _, fault := range []rule{{}, testconn.LoseReply, testconn.LoseRequest} {
		testconn.InBubble(t, func(t *testing.T, s *testServer) {
			c, other := s.Connect(), NewVersionRWLock(s.Connect(), "/v")
			mustDo(t, other.Lock(t.Context()))
			mustDo(t, other.Unlock(t.Context()))
			s.SetVersion("/v", -1)
			l := NewVersionRWLock(c, "/v")
			c.On("set", 1, fault)
			c.On("multi", 1, rule{Before: func() { mustDo(t, other.Lock(t.Context())) }})
			wantTry(t, l, false)
			mustDo(t, errors.Join(l.Close(t.Context()), other.Close(t.Context())))
			s.WantBelow(t, "/v", 0)
		})
	}
}
