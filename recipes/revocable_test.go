package recipes

import (
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
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestOwnerHearsThatItIsAsked(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest, netError, noServer} {
		inBubble(t, func(t *testing.T, s *fakeServer) {
			owner, c := NewRevocableLock(s.connect(), "/rl"), s.connect()
			other := NewRevocableLock(c, "/rl")
			mustRevoke(t, other, false)
			mustLock(t, owner)
			revoked, lost := owner.Revoked(), owner.Lost()
			if closed(revoked) || closed(lost) {
				t.Fatal("closed from the start")
			}
			c.on("set", 1, fault)
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
			s.wantBelow(t, "/rl", 0)
			if _, err := owner.Revoke(t.Context()); !errors.Is(err, ErrClosed) || !closed(owner.Revoked()) {
				t.Errorf("Revoke after Close: %v", err)
			}
		})
	}
}

// TestQuestionBeforeTheWatchIsHeard: Curator's listener misses it.
func TestQuestionBeforeTheWatchIsHeard(t *testing.T) {
	for _, op := range []string{"children", "getW"} {
		inBubble(t, func(t *testing.T, s *fakeServer) {
			c, other := s.connect(), NewRevocableLock(s.connect(), "/rl")
			l := NewRevocableLock(c, "/rl")
			c.on(op, 1, rule{before: func() { mustRevoke(t, other, true) }})
			mustLock(t, l)
			if !closed(l.Revoked()) {
				t.Error("not heard")
			}
			l.mustClose(t)
		})
	}
}

func TestAskedOwnerStillLearnsOfTheLoss(t *testing.T) {
	for name, lose := range map[string]func(s *fakeServer, c *fakeConn, path string){
		"expiry":  func(_ *fakeServer, c *fakeConn, _ string) { c.expire(false) },
		"deleted": func(s *fakeServer, _ *fakeConn, path string) { s.mu.Lock(); s.remove(path); s.mu.Unlock() },
		"closed":  func(_ *fakeServer, c *fakeConn, _ string) { c.close() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *fakeServer) {
				c := s.connect()
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
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		l := NewRevocableLock(c, "/rl")
		c.on("get", 1, rule{before: func() { c.expire(false) }})
		mustLock(t, l)
		s.wantOwner(t, l.Path(), c.SessionID())
		c.on("set", 1, rule{lose: true, err: zk.ErrNoAuth})
		if _, err := l.Revoke(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("Revoke: %v", err)
		}
		l.mustClose(t)
		s.wantBelow(t, "/rl", 0)
	})
}
