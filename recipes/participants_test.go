package recipes

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// dataOf returns the data of members, in their order.
func dataOf(members []Member) []string {
	var out []string
	for _, m := range members {
		out = append(out, string(m.Data))
	}
	return out
}

// wantParticipants checks the data of holders and waiters.
func wantParticipants(
	t *testing.T, list func(context.Context) ([]Member, []Member, error), holders, waiters []string,
) {
	t.Helper()
	held, wait, err := list(t.Context())
	if err != nil || !slices.Equal(dataOf(held), holders) || !slices.Equal(dataOf(wait), waiters) {
		t.Errorf(
			"holders %q, waiters %q, %v; want %q and %q", dataOf(held), dataOf(wait), err,
			holders, waiters,
		)
	}
}

// participantLock is a lock with Participants.
type participantLock interface {
	Lock(ctx context.Context) error
	Close(ctx context.Context) error
	Token() int64
	Path() string
	Participants(ctx context.Context) (owner, waiters []Member, err error)
}

func TestParticipantsOfLocks(t *testing.T) {
	for name, newLock := range map[string]func(c Conn, opts ...Option) participantLock{
		"Lock": func(c Conn, opts ...Option) participantLock {
			return NewLock(c, "/p", opts...)
		},
		"ReentrantLock": func(c Conn, opts ...Option) participantLock {
			return NewReentrantLock(c, "/p", opts...)
		},
		"RevocableLock": func(c Conn, opts ...Option) participantLock {
			return NewRevocableLock(c, "/p", opts...)
		},
		"RWLock": func(c Conn, opts ...Option) participantLock {
			return NewRWLock(c, "/p", opts...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				var locks []participantLock
				done := make(chan error, 3)
				c := s.Connect()
				wantParticipants(t, newLock(c).Participants, nil, nil)
				for _, name := range []string{"a", "b", "c"} {
					l := newLock(c, Data([]byte(name)))
					locks = append(locks, l)
					go func() { done <- l.Lock(t.Context()) }()
					time.Sleep(time.Second)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				wantParticipants(t, locks[2].Participants, []string{"a"}, []string{"b", "c"})
				owner, _, err := locks[1].Participants(t.Context())
				if want := (Member{
					Path: locks[0].Path(), Data: []byte("a"), Session: c.SessionID(),
					Token: locks[0].Token(),
				}); err != nil ||
					owner[0].Path != want.Path || owner[0].Session != want.Session ||
					owner[0].Token != want.Token || owner[0].Reads {
					t.Errorf("owner %+v, want %+v", owner, want)
				}
				for i, l := range locks {
					mustClose(t, l)
					time.Sleep(time.Second)
					if i < 2 {
						wantParticipants(
							t, locks[2].Participants, []string{[]string{"b", "c"}[i]},
							[]string{"c", "x"}[i:1],
						)
					}
				}
				if _, _, err := locks[0].Participants(t.Context()); !errors.Is(err, ErrClosed) {
					t.Errorf("after Close: %v", err)
				}
			})
		})
	}
}

func TestParticipantsOfARWLock(t *testing.T) {
	for range 8 { // names are random
		inBubble(t, func(t *testing.T, s *testServer) {
			done := make(chan error, 4)
			locks := map[string]*RWLock{}
			begin := func(name string, lock func(*RWLock, context.Context) error) {
				l := NewRWLock(s.Connect(), "/p", Data([]byte(name)))
				locks[name] = l
				go func() { done <- lock(l, t.Context()) }()
				time.Sleep(time.Second)
			}
			begin("w1", (*RWLock).Lock)
			if err := locks["w1"].RLock(t.Context()); err != nil {
				t.Error(err)
			}
			begin("r1", (*RWLock).RLock)
			begin("r2", (*RWLock).RLock)
			begin("w2", (*RWLock).Lock)
			list := locks["w2"].Participants
			wantParticipants(t, list, []string{"w1", "w1"}, []string{"r1", "r2", "w2"})
			if err := locks["w1"].Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			wantParticipants(t, list, []string{"w1", "r1", "r2"}, []string{"w2"})
			owners, waiters, err := list(t.Context())
			if err != nil || !owners[1].Reads || waiters[0].Reads {
				t.Errorf("%+v, %+v, %v", owners, waiters, err)
			}
			for _, name := range []string{"w1", "r1", "r2", "w2"} {
				if err := locks[name].Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestParticipantsOfASemaphore(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		handle := func(name string) *Semaphore {
			return NewSemaphore(s.Connect(), "/sem", 3, Data([]byte(name)))
		}
		a, b, c := handle("a"), handle("b"), handle("c")
		wantParticipants(t, a.Participants, nil, nil)
		leases, err := a.AcquireN(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		go func() {
			_, err := b.AcquireN(ctx, 2)
			done <- err
		}()
		time.Sleep(time.Second)
		go func() {
			_, err := c.Acquire(ctx)
			done <- err
		}()
		time.Sleep(time.Second)
		wantParticipants(t, c.Participants, []string{"a", "a", "b"}, []string{"b", "c"})
		cancel()
		if err := errors.Join(<-done, <-done); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		wantParticipants(t, c.Participants, []string{"a", "a"}, nil)
		mustRelease(t, leases...)
	})
}

func TestParticipantsThatLeaveMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c, l := s.Connect(), NewLock(s.Connect(), "/p")
		mustLock(t, l)
		c.On("get", 1, rule{Before: func() { mustUnlock(t, l) }})
		wantParticipants(t, NewLock(c, "/p").Participants, nil, nil)
		mustLock(t, l)
		c.On("get", 1, refusal)
		if _, _, err := NewLock(c, "/p").Participants(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
			t.Error(err)
		}
		mustUnlock(t, l)
	})
}
