package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

func mustRevoke(t *testing.T, l *RevocableLock, want bool) {
	t.Helper()
	if asked, err := l.Revoke(t.Context()); asked != want || err != nil {
		t.Fatalf("Revoke: %v %v, want %v", asked, err, want)
	}
	time.Sleep(time.Second)
}

// revocable runs a test of a lock and another client's handle. In the end nothing is left.
func revocable(
	t *testing.T, test func(t *testing.T, s *testServer, c *testConn, l, other *RevocableLock),
) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l, other := NewRevocableLock(c, "/rl"), NewRevocableLock(s.Connect(), "/rl")
		test(t, s, c, l, other)
		mustClose(t, l, other)
		s.WantBelow(t, "/rl", 0)
	})
}

func TestOwnerHearsThatItIsAsked(t *testing.T) {
	revocable(t, func(t *testing.T, s *testServer, c *testConn, other, owner *RevocableLock) {
		if mustRevoke(t, other, false); !closed(owner.Revoked()) {
			t.Error("not closed without a hold")
		}
		mustLock(t, owner)
		revoked, lost := owner.Revoked(), owner.Lost()
		if closed(revoked) || closed(lost) {
			t.Fatal("closed from the start")
		}
		mustRevoke(t, other, true)
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
		if !closed(other.Revoked()) {
			t.Error("not heard")
		}
		mustClose(t, owner)
		check.Is(t, errOf(owner.Revoke(t.Context())), ErrClosed)
	})
}

// TestQuestionBeforeTheWatchIsHeard: Curator's listener misses it.
func TestQuestionBeforeTheWatchIsHeard(t *testing.T) {
	for _, op := range []string{"children", "getW"} {
		revocable(t, func(t *testing.T, s *testServer, c *testConn, l, other *RevocableLock) {
			c.On(op, 1, rule{Before: func() { mustRevoke(t, other, true) }})
			if mustLock(t, l); !closed(l.Revoked()) {
				t.Error("not heard")
			}
		})
	}
}

// TestRevokedEndsWithTheHold, so that no goroutine waits for it for ever, and after Lost. An owner
// that was asked still learns of the loss.
func TestRevokedEndsWithTheHold(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, c *testConn, l *RevocableLock){
		"unlock": func(t *testing.T, _ *testConn, l *RevocableLock) { mustUnlock(t, l) },
		"close":  func(t *testing.T, _ *testConn, l *RevocableLock) { mustClose(t, l) },
		"expiry": func(_ *testing.T, c *testConn, _ *RevocableLock) { c.Expire() },
		"deleted": func(t *testing.T, c *testConn, l *RevocableLock) {
			mustDo(t, c.Delete(l.Path(), -1))
		},
	} {
		for _, asked := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				revocable(t, func(t *testing.T, s *testServer, c *testConn, l, _ *RevocableLock) {
					mustLock(t, l)
					lost, revoked := l.Lost(), l.Revoked()
					if asked {
						mustRevoke(t, l, true)
					}
					if closed(revoked) != asked || closed(lost) {
						t.Fatal("closed from the start")
					}
					inOrder := make(chan bool)
					go func() {
						<-revoked
						select {
						case <-lost:
							inOrder <- true
						default:
							inOrder <- asked
						}
					}()
					synctest.Wait()
					end(t, c, l)
					if !<-inOrder || !closed(lost) {
						t.Error("Revoked was closed before Lost, or Lost not at all")
					}
				})
			})
		}
	}
}

func TestRevocableLockRestartsWhenItsNodeIsGone(t *testing.T) {
	revocable(t, func(t *testing.T, s *testServer, c *testConn, l, _ *RevocableLock) {
		c.On("get", 1, rule{Before: func() { c.Expire() }})
		mustLock(t, l)
		s.WantOwner(t, l.Path(), c.SessionID())
	})
}

// TestDoubtAboutAQuestionSurvivesARefusal: the first request may have asked.
func TestDoubtAboutAQuestionSurvivesARefusal(t *testing.T) {
	for _, tc := range []struct {
		fault   rule
		outcome Outcome
	}{{noServer, NotApplied}, {loseReply, Unknown}, {loseRequest, Unknown}} {
		revocable(t, func(t *testing.T, s *testServer, c *testConn, l, _ *RevocableLock) {
			mustLock(t, l)
			c.On("set", 1, tc.fault)
			c.On("set", 1, refusal)
			wantFailure(t, errOf(l.Revoke(t.Context())), zk.ErrNoAuth, tc.outcome)
		})
	}
}

// TestRevokeSeesWhatCameBefore: it synchronises before it lists.
func TestRevokeSeesWhatCameBefore(t *testing.T) {
	revocable(t, func(t *testing.T, s *testServer, c *testConn, l, owner *RevocableLock) {
		c.On("confirm", 1, rule{Before: func() { mustLock(t, owner) }})
		mustRevoke(t, l, true)
	})
}

// TestHoldThatNobodyKeepsStopsListening: the caller of the hold has left, and the server refuses to
// remove its node.
func TestHoldThatNobodyKeepsStopsListening(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l := NewRevocableLock(c, "/rl")
		ctx, cancel := context.WithCancel(t.Context())
		c.On("get", 1, rule{Before: func() { cancel(); time.Sleep(time.Second) }})
		c.On("delete", 1, refusal)
		check.Is(t, l.Lock(ctx), context.Canceled)
		check.Is(t, l.Close(within(t, time.Minute)), zk.ErrNoAuth)
	})
}

// TestCloseGivesBackBeforeItWaitsForQuestions that are under way.
func TestCloseGivesBackBeforeItWaitsForQuestions(t *testing.T) {
	revocable(t, func(t *testing.T, s *testServer, c *testConn, l, _ *RevocableLock) {
		mustLock(t, l)
		c.On("set", 1, rule{Before: func() { time.Sleep(time.Hour) }})
		asked := waiting(t, func(ctx context.Context) error { return errOf(l.Revoke(ctx)) })
		closing := waiting(t, l.Close)
		s.WantBelow(t, "/rl", 0)
		wantFailure(t, <-asked, ErrClosed, Unknown)
		wantAll(t, closing)
	})
}
