package recipes

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

func mustRevoke(t *testing.T, l *RevocableLock, want bool) {
	t.Helper()
	if asked, err := l.Revoke(t.Context()); asked != want || err != nil {
		t.Fatalf("Revoke: %v %v, want %v", asked, err, want)
	}
}

func (l *RevocableLock) mustClose(t *testing.T) {
	t.Helper()
	mustDo(t, l.Close(t.Context()))
}

func TestOwnerHearsThatItIsAsked(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest, netError, noServer} {
		inBubble(t, func(t *testing.T, s *testServer) {
			owner, c := NewRevocableLock(s.Connect(), "/rl"), s.Connect()
			other := NewRevocableLock(c, "/rl")
			mustRevoke(t, other, false)
			mustLock(t, owner)
			revoked, lost := owner.Revoked(), owner.Lost()
			if closed(revoked) || closed(lost) {
				t.Fatal("closed from the start")
			}
			c.On("set", 1, fault)
			mustRevoke(t, other, true)
			time.Sleep(time.Second)
			if !closed(revoked) || closed(lost) {
				t.Fatalf("revoked %v, lost %v", closed(revoked), closed(lost))
			}
			mustRevoke(t, other, true)
			mustUnlock(t, owner)
			mustLock(t, other)
			if closed(other.Revoked()) {
				t.Error("the next owner is asked by an old question")
			}
			mustRevoke(t, other, true) // oneself
			time.Sleep(time.Second)
			if !closed(other.Revoked()) {
				t.Error("not heard")
			}
			other.mustClose(t)
			owner.mustClose(t)
			s.WantBelow(t, "/rl", 0)
			if _, err := owner.Revoke(t.Context()); !errors.Is(err, ErrClosed) ||
				!closed(owner.Revoked()) {
				t.Errorf("Revoke after Close: %v", err)
			}
		})
	}
}

// TestQuestionBeforeTheWatchIsHeard: Curator's listener misses it.
func TestQuestionBeforeTheWatchIsHeard(t *testing.T) {
	for _, op := range []string{"children", "getW"} {
		inBubble(t, func(t *testing.T, s *testServer) {
			c, other := s.Connect(), NewRevocableLock(s.Connect(), "/rl")
			l := NewRevocableLock(c, "/rl")
			c.On(op, 1, rule{Before: func() { mustRevoke(t, other, true) }})
			mustLock(t, l)
			if !closed(l.Revoked()) {
				t.Error("not heard")
			}
			l.mustClose(t)
		})
	}
}

func TestAskedOwnerStillLearnsOfTheLoss(t *testing.T) {
	for name, lose := range map[string]func(s *testServer, c *testConn, path string){
		"expiry":  func(_ *testServer, c *testConn, _ string) { c.Expire() },
		"deleted": func(s *testServer, _ *testConn, path string) { s.Delete(path) },
		"closed":  func(_ *testServer, c *testConn, _ string) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				l := NewRevocableLock(c, "/rl")
				mustLock(t, l)
				mustRevoke(t, l, true)
				time.Sleep(time.Second)
				lost := l.Lost()
				lose(s, c, l.Path())
				if synctest.Wait(); !closed(lost) {
					t.Error("not lost")
				}
				err := l.Close(t.Context())
				if err != nil && name != "closed" {
					t.Error(err)
				}
			})
		})
	}
}

func TestRevocableLockRestartsWhenItsNodeIsGone(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l := NewRevocableLock(c, "/rl")
		c.On("get", 1, rule{Before: func() { c.Expire() }})
		mustLock(t, l)
		s.WantOwner(t, l.Path(), c.SessionID())
		c.On("set", 1, refusal)
		wantError(t, errOf(l.Revoke(t.Context())), zk.ErrNoAuth)
		l.mustClose(t)
		s.WantBelow(t, "/rl", 0)
	})
}

// TestDoubtAboutAQuestionSurvivesARefusal: the first request may have asked.
func TestDoubtAboutAQuestionSurvivesARefusal(t *testing.T) {
	for _, tc := range []struct {
		faults  []rule
		outcome Outcome
	}{
		{[]rule{refusal}, NotApplied},
		{[]rule{noServer, refusal}, NotApplied},
		{[]rule{loseReply, refusal}, Unknown},
		{[]rule{loseRequest, refusal}, Unknown},
	} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			l := NewRevocableLock(c, "/rl")
			mustLock(t, l)
			for _, fault := range tc.faults {
				c.On("set", 1, fault)
			}
			if _, err := l.Revoke(t.Context()); !errors.Is(err, zk.ErrNoAuth) ||
				OutcomeOf(err) != tc.outcome {
				t.Errorf("Revoke: %v, %v; want %v", err, OutcomeOf(err), tc.outcome)
			}
			l.mustClose(t)
		})
	}
}

// TestRevokeSeesWhatCameBefore: it synchronises before it lists.
func TestRevokeSeesWhatCameBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		owner, c := NewRevocableLock(s.Connect(), "/rl"), s.Connect()
		c.On("sync", 1, rule{Before: func() { mustLock(t, owner) }})
		other := NewRevocableLock(c, "/rl")
		mustRevoke(t, other, true)
		owner.mustClose(t)
		other.mustClose(t)
	})
}

// TestRevokedEndsWithTheHold, so that no goroutine waits for it for ever.
func TestRevokedEndsWithTheHold(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, c *testConn, l *RevocableLock){
		"unlock": func(t *testing.T, _ *testConn, l *RevocableLock) { mustUnlock(t, l) },
		"close":  func(t *testing.T, _ *testConn, l *RevocableLock) { l.mustClose(t) },
		"expiry": func(_ *testing.T, c *testConn, _ *RevocableLock) { c.Expire() },
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				l := NewRevocableLock(c, "/rl")
				mustLock(t, l)
				lost, revoked := l.Lost(), l.Revoked()
				done := make(chan bool)
				go func() {
					<-revoked
					select {
					case <-lost:
						done <- true
					default:
						done <- false
					}
				}()
				if closed(revoked) {
					t.Fatal("closed from the start")
				}
				end(t, c, l)
				if !<-done {
					t.Error("Revoked was closed before Lost")
				}
				l.mustClose(t)
			})
		})
	}
}

// TestHoldThatNobodyKeepsStopsListening: the caller of the hold has left, and the server refuses to
// remove its node.
func TestHoldThatNobodyKeepsStopsListening(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l := NewRevocableLock(c, "/rl")
		ctx, cancel := context.WithCancel(t.Context())
		c.On("get", 1, rule{Before: func() { cancel(); time.Sleep(time.Second) }})
		c.On("delete", 1, refusal)
		wantError(t, l.Lock(ctx), context.Canceled)
		within, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantError(t, l.Close(within), zk.ErrNoAuth)
	})
}

// TestCloseGivesBackBeforeItWaitsForQuestions that are under way.
func TestCloseGivesBackBeforeItWaitsForQuestions(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l := NewRevocableLock(c, "/rl")
		mustLock(t, l)
		c.On("set", 1, rule{Before: func() { time.Sleep(time.Hour) }})
		asked := make(chan error)
		go func() {
			_, err := l.Revoke(t.Context())
			asked <- err
		}()
		time.Sleep(time.Second)
		closing := make(chan error)
		go func() { closing <- l.Close(t.Context()) }()
		time.Sleep(time.Second)
		s.WantBelow(t, "/rl", 0)
		wantFailure(t, <-asked, ErrClosed, Unknown)
		mustDo(t, <-closing)
	})
}
