package recipes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

// abandon starts an operation, delays its next request of the kind by ten seconds, and ends its
// context meanwhile. It returns the requests that were sent after that one.
func abandon(
	t *testing.T, c *testConn, op string, r rule, operation func(ctx context.Context) error,
) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	sent := 0
	r.Before = func() { time.Sleep(10 * time.Second); sent = len(c.Calls()) }
	c.On(op, 1, r)
	if err := operation(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("abandoned in %s: %v", op, err)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	return c.Calls()[sent:]
}

func TestAbandonedQueueCallSendsNothingNew(t *testing.T) {
	calls := map[string]func(q *Queue, ctx context.Context) error{
		"Poll": func(q *Queue, ctx context.Context) error { _, _, err := q.Poll(ctx); return err },
		"Take": func(q *Queue, ctx context.Context) error { _, err := q.Take(ctx); return err },
		"Peek": func(q *Queue, ctx context.Context) error { _, _, err := q.Peek(ctx); return err },
	}
	for name, call := range calls {
		for _, op := range []string{"children", "get"} {
			for _, lost := range []rule{{}, loseRequest} {
				t.Run(name+" in "+op, func(t *testing.T) {
					inBubble(t, func(t *testing.T, s *testServer) {
						c := s.Connect()
						q := NewQueue(c, "/q")
						mustOffer(t, q, "a")
						sent := abandon(t, c, op, lost, func(ctx context.Context) error {
							return call(q, ctx)
						})
						if len(sent) > 0 {
							t.Errorf("sent %v", sent)
						}
						wantPoll(t, q, "a")
					})
				})
			}
		}
	}
}

func TestAbandonedOfferMakesNoDirectories(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		q := NewQueue(c, "/q")
		sent := abandon(
			t, c, "multi", rule{}, func(ctx context.Context) error { return q.Offer(ctx, nil) },
		)
		if len(sent) > 0 || len(s.Below("/")) > 0 {
			t.Errorf("sent %v, nodes %v", sent, s.Below("/"))
		}
	})
}

// TestAbandonedLockMakesNoNewNode: the request under way may be a creation that was applied or not;
// afterwards only the clean-up may change the server.
func TestAbandonedLockMakesNoNewNode(t *testing.T) {
	for _, op := range []string{"create", "multi", "children", "getW"} {
		for name, lost := range map[string]rule{
			"answered": {}, "missing": {Lose: true, Err: zk.ErrNoNode}, "lost": loseRequest,
		} {
			t.Run(op+" "+name, func(t *testing.T) {
				everyLock(t,
					func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
						c := s.Connect()
						l := newLock(c)
						mustLock(t, l)
						mustUnlock(t, l)
						herd := strings.HasSuffix(t.Name(), "HerdLock")
						if herd == (op == "create" || op == "children") {
							return // a request of the other kind of lock
						}
						sent := abandon(t, c, op, lost, l.Lock)
						for _, request := range sent {
							if strings.HasPrefix(request, "create ") ||
								strings.HasPrefix(request, "getW ") {
								t.Errorf("sent %v", sent)
							}
						}
						s.WantBelow(t, "/locks/a", 0)
					})
			})
		}
	}
}

// TestLockAbandonedInParentsIsNotCreated: the first creation fails for lack of the directory; the
// creation of the directory outlives the context.
func TestLockAbandonedInParentsIsNotCreated(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		c.On("create", 1, rule{})
		l := NewLock(c, "/l")
		sent := abandon(t, c, "create", noServer, func(ctx context.Context) error {
			return l.Lock(ctx)
		})
		if len(sent) > 0 {
			t.Errorf("sent %v", sent)
		}
		c.Off()
		own, err := newProtected("/l", "lock-")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := len(c.Calls())
		if err := own.create(ctx, &requests{conn: c}, nil); !errors.Is(err, context.Canceled) ||
			len(c.Calls()) != before {
			t.Errorf("create after the end of its context: %v, %v", err, c.Calls()[before:])
		}
	})
}
