package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// inOrder begins the locks one after the other, each when the one before waits. It returns a
// function that lists the locks granted since its last call.
func inOrder(
	t *testing.T, locks map[string]func(context.Context) error, names ...string,
) func() string {
	granted := make(chan string, len(names))
	for _, name := range names {
		go func() {
			mustDo(t, locks[name](t.Context()))
			granted <- name
		}()
		time.Sleep(time.Second)
	}
	return func() string {
		time.Sleep(time.Second)
		var held []string
		for len(granted) > 0 {
			held = append(held, <-granted)
		}
		slices.Sort(held) // readers may be granted at one moment
		return strings.Join(held, " ")
	}
}

func wantHeld(t *testing.T, held func() string, want string) {
	t.Helper()
	if got := held(); got != want {
		t.Fatalf("granted: %q, want %q", got, want)
	}
}

// rwOwners makes n handles, and the calls that lock them.
func rwOwners(s *testServer, n int) ([]*RWLock, map[string]func(context.Context) error) {
	var owners []*RWLock
	locks := map[string]func(context.Context) error{}
	for i := range n {
		l := NewRWLock(s.Connect(), "/rw")
		owners = append(owners, l)
		locks[fmt.Sprint("r", i)], locks[fmt.Sprint("w", i)] = l.RLock, l.Lock
	}
	return owners, locks
}

func mustRUnlock(t *testing.T, l *RWLock) {
	t.Helper()
	mustDo(t, l.RUnlock(t.Context()))
}

func TestReadersShareAndQueueBehindWriters(t *testing.T) {
	for _, first := range []int32{0, -4} { // the second as a server of 3.5 leaves it past the wrap
		inBubble(t, func(t *testing.T, s *testServer) {
			s.NumberFrom(first)
			l, locks := rwOwners(s, 7)
			held := inOrder(t, locks, "r0", "r1", "w2", "r3", "r4", "w5", "r6")
			wantHeld(t, held, "r0 r1")
			mustRUnlock(t, l[1]) // the reader that the writer watches leaves first
			wantHeld(t, held, "")
			mustRUnlock(t, l[0])
			wantHeld(t, held, "w2")
			mustUnlock(t, l[2])
			wantHeld(t, held, "r3 r4")
			mustRUnlock(t, l[3])
			mustRUnlock(t, l[4])
			wantHeld(t, held, "w5")
			mustUnlock(t, l[5])
			wantHeld(t, held, "r6")
			mustRUnlock(t, l[6])
			s.WantBelow(t, "/rw", 0)
		})
	}
}

func TestWriterWhoLeavesTheQueueLetsReadersPass(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		l, locks := rwOwners(s, 3)
		ctx := within(t, 5*time.Second)
		locks["w1"] = func(context.Context) error {
			check.Is(t, l[1].Lock(ctx), context.DeadlineExceeded)
			return nil
		}
		held := inOrder(t, locks, "r0", "w1", "r2")
		wantHeld(t, held, "r0")
		time.Sleep(5 * time.Second)
		wantHeld(t, held, "r2 w1")
		mustRUnlock(t, l[0])
		mustRUnlock(t, l[2])
		s.WantBelow(t, "/rw", 0)
	})
}

// TestDowngradeLetsNoWriterIn, not even one that waits already.
func TestDowngradeLetsNoWriterIn(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest, netError, noServer} {
		inBubble(t, func(t *testing.T, s *testServer) {
			l, locks := rwOwners(s, 3)
			held := inOrder(t, locks, "w0", "w1", "r2")
			wantHeld(t, held, "w0")
			l[0].Conn().(*testConn).On("multi", 1, fault)
			mustDo(t, l[0].RLock(t.Context()))
			if l[0].RToken() != l[0].Token() || l[0].RPath() == l[0].Path() {
				t.Errorf("tokens %d and %d, nodes %s and %s", l[0].RToken(), l[0].Token(),
					l[0].RPath(), l[0].Path())
			}
			mustUnlock(t, l[0])
			wantHeld(t, held, "")
			if closed(l[0].RLost()) {
				t.Error("the read lock went with the write lock")
			}
			mustRUnlock(t, l[0])
			wantHeld(t, held, "w1")
			if l[1].Token() <= l[0].RToken() {
				t.Error("the token does not grow")
			}
			mustUnlock(t, l[1])
			wantHeld(t, held, "r2")
			mustRUnlock(t, l[2])
			s.WantBelow(t, "/rw", 0)
		})
	}
}

func TestDowngradeOfWhatIsLostFails(t *testing.T) {
	for name, fault := range map[string]func(c *testConn) rule{
		"before": func(c *testConn) rule { return rule{Before: func() { c.Expire() }} },
		"reaped": func(c *testConn) rule { return rule{After: func() { c.Expire() }} },
		"late": func(c *testConn) rule {
			return rule{Before: func() { c.ExpireLate(testconn.Stays) }}
		},
		"no reply": func(c *testConn) rule {
			return rule{Err: zk.ErrSessionExpired, After: func() { c.Expire() }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				l := NewRWLock(c, "/rw")
				mustLock(t, l)
				c.On("multi", 1, fault(c))
				check.Is(t, l.RLock(t.Context()), ErrLost)
				mustUnlock(t, l)
				s.ClearFaults() // the late ones go
				s.WantBelow(t, "/rw", 0)
				mustDo(t, l.RLock(t.Context()))
				mustRUnlock(t, l)
			})
		})
	}
}

func TestUpgradeIsRefused(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		l := NewRWLock(c, "/rw")
		if held, err := l.TryRLock(t.Context()); !held || err != nil {
			t.Fatalf("TryRLock: %v %v", held, err)
		}
		wantFailure(t, l.Lock(t.Context()), ErrUpgrade, NotApplied)
		if held, err := l.TryLock(t.Context()); held || !errors.Is(err, ErrUpgrade) {
			t.Errorf("TryLock: %v %v", held, err)
		}
		c.Expire()
		synctest.Wait()
		check.Is(t, l.Lock(t.Context()), ErrLost)
		mustRUnlock(t, l)
		mustLock(t, l)
		mustUnlock(t, l)
		s.WantBelow(t, "/rw", 0)
	})
}

func TestTryRWLocks(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		l, _ := rwOwners(s, 2)
		wantTry(t, l[0], true)
		wantTry(t, readSide{l[0]}, true)
		wantTry(t, readSide{l[1]}, false)
		wantTry(t, l[1], false)
		mustUnlock(t, l[0])
		wantTry(t, l[1], false)
		wantTry(t, readSide{l[1]}, true)
		mustRUnlock(t, l[0])
		mustRUnlock(t, l[1])
		wantTry(t, l[1], true)
		mustUnlock(t, l[1])
		s.WantBelow(t, "/rw", 0)
	})
}
