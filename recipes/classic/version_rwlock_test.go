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
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		c, other := s.Connect(), NewVersionRWLock(s.Connect(), "/v")
		l := NewVersionRWLock(c, "/v")
		c.On("multi", 1, testconn.Rule{Before: func() {
			testconn.MustDo(t, other.RLock(t.Context()))
		}})
		wantTry(t, l, false)
		if held, err := l.TryRLock(t.Context()); !held || err != nil {
			t.Errorf("TryRLock: %v %v", held, err)
		}
		testconn.MustDo(t, errors.Join(l.Close(t.Context()), other.Close(t.Context())))
		s.WantBelow(t, "/v", 0)
	})
}

func TestVersionRWLockGoesOverToReading(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testconn.Server, c *testconn.Conn) {
		l, other := NewVersionRWLock(c, "/v"), NewVersionRWLock(s.Connect(), "/v")
		testconn.MustDo(t, l.Lock(t.Context()))
		if err := l.RLock(t.Context()); err != nil || l.RToken() <= l.Token() {
			t.Fatalf("RLock: %v, tokens %d and %d", err, l.RToken(), l.Token())
		}
		testconn.MustDo(t, l.Unlock(t.Context()))
		wantTry(t, other, false)
		check.Is(t, l.Lock(t.Context()), recipes.ErrUpgrade)
		testconn.MustDo(t, l.RUnlock(t.Context()))
		testconn.MustDo(t, l.Lock(t.Context()))
		c.On("multi", 1, testconn.Rule{Before: func() { c.Expire() }})
		check.Is(t, l.RLock(t.Context()), recipes.ErrLost)
		testconn.MustDo(t, l.Unlock(t.Context()))
		s.WantBelow(t, "/v", 0)
	})
}

// TestEntranceAtVersionMinusOne, which a set takes for any version (CURATOR-688).
func TestEntranceAtVersionMinusOne(t *testing.T) {
	for _, fault := range []testconn.Rule{{}, testconn.LoseReply, testconn.LoseRequest} {
		testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
			c, other := s.Connect(), NewVersionRWLock(s.Connect(), "/v")
			testconn.MustDo(t, other.Lock(t.Context()))
			testconn.MustDo(t, other.Unlock(t.Context()))
			s.SetVersion("/v", -1)
			l := NewVersionRWLock(c, "/v")
			c.On("set", 1, fault)
			c.On("multi", 1, testconn.Rule{Before: func() { testconn.MustDo(t, other.Lock(t.Context())) }})
			wantTry(t, l, false)
			testconn.MustDo(t, errors.Join(l.Close(t.Context()), other.Close(t.Context())))
			s.WantBelow(t, "/v", 0)
		})
	}
}
