package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// list is the method Participants of a recipe.
type list func(context.Context) (holders, waiters []Member, err error)

// wantParticipants checks the data of holders and waiters, which is one letter each.
func wantParticipants(t *testing.T, list list, holders, waiters string) {
	t.Helper()
	letters := func(members []Member) (text string) {
		for _, m := range members {
			text += string(m.Data)
		}
		return text
	}
	held, wait, err := list(t.Context())
	if err != nil || letters(held) != holders || letters(wait) != waiters {
		t.Errorf("holders %q, waiters %q, %v; want %q and %q", letters(held), letters(wait), err,
			holders, waiters)
	}
}

func TestParticipantsOfLocks(t *testing.T) {
	everyLock(t, func(t *testing.T, s *testServer, k lockKind) {
		c := s.Connect()
		lists := func(l handleLocker) (list, bool) {
			p, ok := l.(interface {
				Participants(context.Context) (owner, waiters []Member, err error)
			})
			if !ok || k.rival != nil || k.name == "Semaphore" {
				return nil, false // of TestParticipantsOfASemaphore and -OfARWLock
			}
			return p.Participants, true
		}
		shown, ok := lists(k.open(c))
		if !ok {
			return
		}
		wantParticipants(t, shown, "", "")
		var locks []handleLocker
		var results []chan error
		for _, name := range []string{"a", "b", "c"} {
			l := k.open(c, Data([]byte(name)))
			locks, results = append(locks, l), append(results, waiting(t, l.Lock))
		}
		wantAll(t, results[0])
		last, _ := lists(locks[2])
		wantParticipants(t, last, "a", "bc")
		owner, _, err := last(t.Context())
		if m := owner[0]; err != nil || m.Path != locks[0].Path() ||
			m.Session != c.SessionID() || m.Token != locks[0].Token() || m.Reads {
			t.Errorf("owner %+v, %v", m, err)
		}
		for i, waiters := range []string{"c", ""} {
			mustClose(t, locks[i])
			time.Sleep(time.Second)
			wantParticipants(t, last, "bc"[i:i+1], waiters)
		}
		mustClose(t, locks[2])
		check.Is(t, errOf(errOf2(last(t.Context()))), ErrClosed)
	})
}

func TestParticipantsOfARWLock(t *testing.T) {
	for range 8 { // names are random
		inBubble(t, func(t *testing.T, s *testServer) {
			var locks []*RWLock
			for i, lock := range []func(*RWLock, context.Context) error{
				(*RWLock).Lock, (*RWLock).RLock, (*RWLock).RLock, (*RWLock).Lock,
			} {
				l := NewRWLock(s.Connect(), "/p", Data(fmt.Append(nil, i)))
				locks = append(locks, l)
				waiting(t, func(ctx context.Context) error { return lock(l, ctx) })
				if i == 0 {
					mustDo(t, l.RLock(t.Context()))
				}
			}
			list := locks[3].Participants
			wantParticipants(t, list, "00", "123")
			mustUnlock(t, locks[0])
			time.Sleep(time.Second)
			wantParticipants(t, list, "012", "3")
			owners, waiters, err := list(t.Context())
			if err != nil || !owners[1].Reads || waiters[0].Reads {
				t.Errorf("%+v, %+v, %v", owners, waiters, err)
			}
			mustCloseAll(t, locks)
		})
	}
}

func TestParticipantsOfASemaphore(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		handle := func(name string) *Semaphore {
			return NewSemaphore(s.Connect(), "/sem", 3, Data([]byte(name)))
		}
		a, b, c := handle("a"), handle("b"), handle("c")
		wantParticipants(t, a.Participants, "", "")
		leases, err := a.AcquireN(t.Context(), 2)
		mustDo(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		two := waiting(t, func(context.Context) error { return errOf(b.AcquireN(ctx, 2)) })
		one := waiting(t, func(context.Context) error { return errOf(c.Acquire(ctx)) })
		wantParticipants(t, c.Participants, "aab", "bc")
		cancel()
		check.Is(t, errors.Join(<-one, <-two), context.Canceled)
		wantParticipants(t, c.Participants, "aa", "")
		mustRelease(t, leases...)
	})
}

func TestParticipantsThatLeaveMeanwhile(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l, other := NewLock(s.Connect(), "/p"), NewLock(c, "/p")
		mustLock(t, l)
		c.On("get", 1, rule{Before: func() { mustUnlock(t, l) }})
		wantParticipants(t, other.Participants, "", "")
		mustLock(t, l)
		c.On("get", 1, refusal)
		check.Is(t, errOf(errOf2(other.Participants(t.Context()))), zk.ErrNoAuth)
		mustUnlock(t, l)
	})
}
