package classic

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

type (
	testServer = testconn.Server
	testConn   = testconn.Conn
	rule       = testconn.Rule
)

var mustDo = testconn.MustDo

// alone runs a test in a bubble, with one connection and a queue and a lock on it.
func alone(
	t *testing.T,
	test func(t *testing.T, s *testServer, c *testConn, q *ApacheQueue),
) {
	testconn.InBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		test(t, s, c, NewApacheQueue(c, "/a/q", zk.WorldACL(zk.PermAll)))
	})
}

func mustOffer(t *testing.T, q *ApacheQueue, elements ...string) {
	t.Helper()
	for _, e := range elements {
		check.OK(t, q.Offer(t.Context(), []byte(e)))
	}
}

// wants checks the result of Poll or Peek; "" stands for an empty queue.
func wants(
	t *testing.T, call func(context.Context) (data []byte, ok bool, err error), want string,
) {
	t.Helper()
	data, ok, err := call(t.Context())
	if err != nil || ok != (want != "") || string(data) != want {
		t.Fatalf("%q %v %v, want %q", data, ok, err, want)
	}
}

// wantFailure checks the error of a call and its outcome.
func wantFailure(t *testing.T, err, want error, outcome recipes.Outcome) {
	t.Helper()
	if !errors.Is(err, want) || recipes.OutcomeOf(err) != outcome {
		t.Errorf("got %v, %v; want %v, %v", err, recipes.OutcomeOf(err), want, outcome)
	}
}

// wantTry checks the result of TryLock.
func wantTry(t *testing.T, l *VersionRWLock, want bool) {
	t.Helper()
	if held, err := l.TryLock(t.Context()); held != want || err != nil {
		t.Fatalf("TryLock: %v %v, want %v", held, err, want)
	}
}

func ExampleApacheQueue() {
	server := fakezk.New(fakezk.Options{})
	conn, _, err := zk.Connect([]string{fakezk.Address}, 10*time.Second,
		zk.WithDialer(server.Dialer()), zk.WithLogger(testconn.Silence{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	q := NewApacheQueue(conn, "/queues/java", zk.WorldACL(zk.PermAll))
	_, err = q.Element(ctx)
	fmt.Println(err)
	fmt.Println(q.Offer(ctx, []byte("bean")))
	bean, err := q.Remove(ctx)
	fmt.Println(string(bean), err)
	conn.Close()
	fmt.Println(server.Close())
	// Output:
	// look at the element of apache queue /queues/java: no such element
	// <nil>
	// bean <nil>
	// <nil>
}

func TestApacheQueueIsFIFO(t *testing.T) {
	for _, first := range []int32{0, -3} {
		alone(t, func(t *testing.T, s *testServer, c *testConn, q *ApacheQueue) {
			s.NumberFrom(first)
			wants(t, q.Poll, "")
			wants(t, q.Peek, "")
			mustOffer(t, q, "0", "1", "2", "3", "4", "5")
			wants(t, q.Peek, "0")
			for i := range 6 {
				wants(t, q.Poll, fmt.Sprint(i))
			}
			wants(t, q.Poll, "")
		})
	}
}

func TestApacheTakeEndsWithItsContextSessionAndConn(t *testing.T) {
	for _, tc := range []struct {
		end  func(c *testConn)
		want error
	}{
		{func(*testConn) { time.Sleep(time.Hour) }, context.DeadlineExceeded},
		{(*testConn).Expire, zk.ErrSessionExpired},
		{(*testConn).Close, recipes.ErrConnClosed},
	} {
		alone(t, func(t *testing.T, s *testServer, c *testConn, q *ApacheQueue) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := q.Take(ctx)
				ended <- err
			}()
			time.Sleep(time.Second)
			tc.end(c)
			check.Is(t, <-ended, tc.want)
		})
	}
}

func TestApacheTakeWaits(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn, q *ApacheQueue) {
		taken := make(chan string)
		for range 3 {
			go func() {
				rival := NewApacheQueue(s.Connect(), "/a/q", zk.WorldACL(zk.PermAll))
				data, err := rival.Take(t.Context())
				if err != nil {
					t.Error(err)
				}
				taken <- string(data)
			}()
		}
		time.Sleep(time.Hour)
		for i := range 3 {
			mustOffer(t, q, fmt.Sprint(i))
			if got := <-taken; got != fmt.Sprint(i) {
				t.Errorf("took %s, want %d", got, i)
			}
		}
	})
}

// TestApacheListTakenByRivalsIsNotEmpty: rivals take the listed elements, but the queue is never
// empty.
func TestApacheListTakenByRivalsIsNotEmpty(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn, q *ApacheQueue) {
		rival := NewApacheQueue(s.Connect(), "/a/q", zk.WorldACL(zk.PermAll))
		swap := rule{After: func() { mustOffer(t, rival, "2"); wants(t, rival.Poll, "1") }}
		for _, call := range []func(context.Context) ([]byte, bool, error){q.Poll, q.Peek} {
			mustOffer(t, rival, "1")
			c.On("children", 1, swap)
			wants(t, call, "2")
		}
	})
}

// TestApacheQueueMakesItsDirectory: any request or reply may be lost.
func TestApacheQueueMakesItsDirectory(t *testing.T) {
	for _, fault := range []rule{
		testconn.LoseReply, testconn.LoseRequest, testconn.NetError, testconn.NoServer,
	} {
		alone(t, func(t *testing.T, s *testServer, c *testConn, q *ApacheQueue) {
			c.On("create", 2, fault)
			c.On("create", 2, fault)
			mustOffer(t, q, "1")
			wants(t, q.Poll, "1")
		})
	}
}

func TestApacheQueueLosesAndDoubles(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn, q *ApacheQueue) {
		mustOffer(t, q, "a", "b")
		c.On("delete", 1, testconn.LoseReply)
		data, ok, err := q.Poll(t.Context())
		if check.Is(t, err, zk.ErrConnectionClosed); data != nil || ok ||
			!errors.Is(err, recipes.ErrAmbiguous) {
			t.Fatalf("Poll: %q %v %v", data, ok, err)
		}
		wants(t, q.Poll, "b") // a is lost
		c.On("create", 1, testconn.LoseReply)
		check.Is(t, q.Offer(t.Context(), []byte("c")), recipes.ErrAmbiguous)
		mustOffer(t, q, "c")
		wants(t, q.Poll, "c")
		wants(t, q.Poll, "c") // doubled
	})
}

func TestApacheElementAndRemove(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn, q *ApacheQueue) {
		mustOffer(t, q, "a", "b")
		for _, step := range []struct {
			call func(context.Context) ([]byte, error)
			want string
		}{{q.Element, "a"}, {q.Remove, "a"}, {q.Remove, "b"}, {q.Element, ""}, {q.Remove, ""}} {
			data, err := step.call(t.Context())
			if string(data) != step.want || errors.Is(err, ErrNoElement) != (step.want == "") ||
				errors.Is(err, recipes.ErrAmbiguous) {
				t.Errorf("%q %v, want %q", data, err, step.want)
			}
		}
		mustOffer(t, q, "c")
		c.On("delete", 1, testconn.LoseReply)
		_, err := q.Remove(t.Context())
		check.Is(t, err, recipes.ErrAmbiguous)
		wants(t, q.Poll, "") // lost
	})
}

// withClientLock runs a test in a bubble with a lock of the client.
func withClientLock(
	t *testing.T,
	test func(t *testing.T, s *testServer, c *zk.Conn, lock *ClientLock),
) {
	testconn.InBubble(t, func(t *testing.T, s *testServer) {
		c := s.Server.Connect(t)
		test(t, s, c, NewClientLock(c, "/l", zk.WorldACL(zk.PermAll)))
	})
}

func TestClientLockSharesItsPathWithLock(t *testing.T) {
	withClientLock(t, func(t *testing.T, s *testServer, c *zk.Conn, lock *ClientLock) {
		ours := recipes.NewLock(c, "/l")
		check.OK(t, lock.Lock(t.Context()))
		if ok, err := ours.TryLock(t.Context()); ok || err != nil {
			t.Errorf("TryLock while the client's lock is held: %v %v", ok, err)
		}
		check.OK(t, lock.Unlock(t.Context()))
		check.OK(t, ours.Lock(t.Context()))
		check.OK(t, ours.Unlock(t.Context()))
	})
}

func TestClientLockLooksAtItsContextOnce(t *testing.T) {
	withClientLock(t, func(t *testing.T, _ *testServer, _ *zk.Conn, lock *ClientLock) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		check.Is(t, lock.Lock(ctx), context.Canceled)
		check.OK(t, lock.Lock(t.Context()))
		check.Is(t, lock.Lock(t.Context()), zk.ErrDeadlock)
		check.OK(t, lock.Unlock(ctx))
	})
}

// TestClientLockIsUnusableAfterALostReply of its Unlock.
func TestClientLockIsUnusableAfterALostReply(t *testing.T) {
	withClientLock(t, func(t *testing.T, s *testServer, _ *zk.Conn, lock *ClientLock) {
		check.OK(t, lock.Lock(t.Context()))
		check.OK(t, s.Inject(fault.Fault{Kind: fault.DropReply, Op: "delete", Request: 1}))
		check.Is(t, lock.Unlock(t.Context()), zk.ErrConnectionClosed)
		check.Is(t, lock.Unlock(t.Context()), zk.ErrNoNode)
		check.Is(t, lock.Lock(t.Context()), zk.ErrDeadlock)
	})
}
