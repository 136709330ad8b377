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

// abandon starts an operation, whose next request of the kind waits out an
// outage of ten seconds, and ends its context meanwhile. It returns the
// requests that were sent after the outage.
func abandon(t *testing.T, c *fakeConn, op string, err error, operation func(ctx context.Context) error) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	sent := 0
	outage := func() { time.Sleep(10 * time.Second); sent = c.sent() }
	c.on(op, 1, rule{before: outage, lose: err != nil, err: err})
	if err := operation(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("abandoned in %s: %v", op, err)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.calls[sent:]
}

func (c *fakeConn) sent() int {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return len(c.calls)
}

func TestAbandonedQueueCallSendsNothingNew(t *testing.T) {
	calls := map[string]func(q *Queue, ctx context.Context) error{
		"Poll": func(q *Queue, ctx context.Context) error { _, _, err := q.Poll(ctx); return err },
		"Take": func(q *Queue, ctx context.Context) error { _, err := q.Take(ctx); return err },
		"Peek": func(q *Queue, ctx context.Context) error { _, _, err := q.Peek(ctx); return err },
	}
	for name, call := range calls {
		for _, op := range []string{"children", "get"} {
			for _, lost := range []error{nil, zk.ErrConnectionClosed} {
				t.Run(name+" in "+op, func(t *testing.T) {
					inBubble(t, func(t *testing.T, s *fakeServer) {
						c := s.connect()
						q := NewQueue(c, "/q")
						mustOffer(t, q, "a")
						sent := abandon(t, c, op, lost, func(ctx context.Context) error { return call(q, ctx) })
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
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		q := NewQueue(c, "/q")
		sent := abandon(t, c, "multi", nil, func(ctx context.Context) error { return q.Offer(ctx, nil) })
		if len(sent) > 0 || len(s.below("/")) > 0 {
			t.Errorf("sent %v, nodes %v", sent, s.below("/"))
		}
	})
}

// The request under way may be a creation that was applied or not; afterwards
// nothing but the clean-up may change the server.
func TestAbandonedLockMakesNoNewNode(t *testing.T) {
	for _, op := range []string{"create", "multi", "children", "getW"} {
		for name, lost := range map[string]error{"answered": nil, "missing": zk.ErrNoNode, "lost": zk.ErrConnectionClosed} {
			t.Run(op+" "+name, func(t *testing.T) {
				everyLock(t, func(t *testing.T, s *fakeServer, newLock func(Conn, ...Option) handleLocker) {
					c := s.connect()
					l := newLock(c)
					mustLock(t, l)
					mustUnlock(t, l)
					herd := strings.HasSuffix(t.Name(), "HerdLock")
					if herd == (op == "create" || op == "children") {
						return // a request of the other kind of lock
					}
					sent := abandon(t, c, op, lost, l.Lock)
					for _, request := range sent {
						if strings.HasPrefix(request, "create ") || strings.HasPrefix(request, "getW ") {
							t.Errorf("sent %v", sent)
						}
					}
					s.wantBelow(t, "/locks/a", 0)
				})
			})
		}
	}
}

// The first creation fails for lack of the directory, whose creation outlives
// the context.
func TestLockAbandonedInParentsIsNotCreated(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		c := s.connect()
		c.on("create", 1, rule{})
		l := NewLock(c, "/l")
		sent := abandon(t, c, "create", zk.ErrNoServer, func(ctx context.Context) error { return l.Lock(ctx) })
		if len(sent) > 0 {
			t.Errorf("sent %v", sent)
		}
		c.rules = nil
		own, err := newProtected("/l", "lock-")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := c.sent()
		if err := own.create(ctx, &requests{conn: c}, nil); !errors.Is(err, context.Canceled) || c.sent() != before {
			t.Errorf("create after the end of its context: %v, %v", err, c.calls[before:])
		}
	})
}
