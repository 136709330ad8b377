package classic

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// newApache makes a handle on the queue of a test.
func newApache(c recipes.Conn) *ApacheQueue {
	return NewApacheQueue(c, "/q", zk.WorldACL(zk.PermAll))
}

func mustOffer(t *testing.T, q *ApacheQueue, data string) {
	t.Helper()
	if err := q.Offer(t.Context(), []byte(data)); err != nil {
		t.Fatalf("Offer %s: %v", data, err)
	}
}

// wantPoll polls; "" stands for an empty queue.
func wantPoll(t *testing.T, q *ApacheQueue, want string) {
	t.Helper()
	data, ok, err := q.Poll(t.Context())
	if err != nil || ok != (want != "") || string(data) != want {
		t.Fatalf("Poll: %q %v %v, want %q", data, ok, err, want)
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
		testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
			s.NumberFrom(first)
			q := newApache(s.Connect())
			wantPoll(t, q, "")
			if _, ok, err := q.Peek(t.Context()); ok || err != nil {
				t.Errorf("Peek of an empty queue: %v %v", ok, err)
			}
			for i := range 6 {
				mustOffer(t, q, fmt.Sprint("e", i))
			}
			if data, ok, err := q.Peek(t.Context()); string(data) != "e0" || !ok || err != nil {
				t.Errorf("Peek: %q %v %v", data, ok, err)
			}
			for i := range 6 {
				wantPoll(t, newApache(s.Connect()), fmt.Sprint("e", i))
			}
			wantPoll(t, q, "")
		})
	}
}

// take takes n elements and sends them.
func take(t *testing.T, q *ApacheQueue, n int, taken chan<- string) {
	for range n {
		data, err := q.Take(t.Context())
		if err != nil {
			t.Errorf("Take: %v", err)
		}
		taken <- string(data)
	}
}

func TestApacheTakeWaits(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		taken := make(chan string, 3)
		for range 3 {
			go take(t, newApache(s.Connect()), 1, taken)
		}
		time.Sleep(time.Hour)
		q := newApache(s.Connect())
		for i := range 3 {
			mustOffer(t, q, fmt.Sprint(i))
			if got := <-taken; got != fmt.Sprint(i) {
				t.Errorf("took %s, want %d", got, i)
			}
			time.Sleep(time.Second)
		}
		wantPoll(t, q, "")
	})
}

func TestApacheTakeEndsWithItsContextSessionAndConn(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(c *testconn.Conn)
		want error
	}{
		"context": {func(*testconn.Conn) { time.Sleep(time.Hour) }, context.DeadlineExceeded},
		"session": {(*testconn.Conn).Expire, zk.ErrSessionExpired},
		"conn":    {(*testconn.Conn).Close, recipes.ErrConnClosed},
	} {
		t.Run(name, func(t *testing.T) {
			testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
				c := s.Connect()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				ended := make(chan error, 1)
				go func() {
					_, err := newApache(c).Take(ctx)
					ended <- err
				}()
				time.Sleep(time.Second)
				tc.end(c)
				if err := <-ended; !errors.Is(err, tc.want) {
					t.Errorf("Take: %v, want %v", err, tc.want)
				}
			})
		})
	}
}

func TestApacheRivalsShareElements(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		producer := newApache(s.Connect())
		for i := range 20 {
			mustOffer(t, producer, fmt.Sprint(i))
		}
		taken := make(chan string, 20)
		for range 4 {
			go take(t, newApache(s.Connect()), 5, taken)
		}
		seen := map[string]bool{}
		for range 20 {
			seen[<-taken] = true
		}
		if len(seen) != 20 {
			t.Errorf("%d different elements of 20", len(seen))
		}
		wantPoll(t, producer, "")
	})
}

// TestApacheListTakenByRivalsIsNotEmpty: rivals take the listed elements, but the queue is never
// empty.
func TestApacheListTakenByRivalsIsNotEmpty(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		c, rival := s.Connect(), newApache(s.Connect())
		q := newApache(c)
		mustOffer(t, rival, "1")
		swap := testconn.Rule{After: func() { mustOffer(t, rival, "2"); wantPoll(t, rival, "1") }}
		c.On("children", 1, swap)
		wantPoll(t, q, "2")
		mustOffer(t, rival, "1")
		c.On("children", 1, swap)
		if data, ok, err := q.Peek(t.Context()); string(data) != "2" || !ok || err != nil {
			t.Errorf("Peek: %q %v %v", data, ok, err)
		}
	})
}

// TestApacheQueueMakesItsDirectory: any request or reply may be lost.
func TestApacheQueueMakesItsDirectory(t *testing.T) {
	for _, fault := range []testconn.Rule{
		testconn.LoseReply, testconn.LoseRequest, testconn.NetError, testconn.NoServer,
	} {
		testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
			c := s.Connect()
			c.On("create", 2, fault)
			c.On("create", 2, fault)
			q := NewApacheQueue(c, "/a/q", zk.WorldACL(zk.PermAll))
			mustOffer(t, q, "1")
			wantPoll(t, q, "1")
		})
	}
}

func TestApacheQueueLosesAndDoubles(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		c := s.Connect()
		q := newApache(c)
		mustOffer(t, q, "a")
		mustOffer(t, q, "b")
		c.On("delete", 1, testconn.LoseReply)
		if data, ok, err := q.Poll(t.Context()); data != nil || ok ||
			!errors.Is(err, recipes.ErrAmbiguous) || !errors.Is(err, zk.ErrConnectionClosed) {
			t.Fatalf("Poll: %q %v %v", data, ok, err)
		}
		wantPoll(t, q, "b") // a is lost
		c.On("create", 1, testconn.LoseReply)
		if err := q.Offer(t.Context(), []byte("c")); !errors.Is(err, recipes.ErrAmbiguous) {
			t.Fatalf("Offer: %v", err)
		}
		mustOffer(t, q, "c")
		wantPoll(t, q, "c")
		wantPoll(t, q, "c") // doubled
	})
}

func TestApacheElementAndRemove(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		q := newApache(s.Connect())
		for name, method := range map[string]func(context.Context) ([]byte, error){
			"Element": q.Element, "Remove": q.Remove,
		} {
			if data, err := method(t.Context()); data != nil || !errors.Is(err, ErrNoElement) ||
				errors.Is(err, recipes.ErrAmbiguous) {
				t.Errorf("%s of an empty queue: %q %v", name, data, err)
			}
		}
		mustOffer(t, q, "a")
		mustOffer(t, q, "b")
		for _, step := range []struct {
			method func(context.Context) ([]byte, error)
			want   string
		}{{q.Element, "a"}, {q.Remove, "a"}, {q.Remove, "b"}} {
			if data, err := step.method(t.Context()); string(data) != step.want || err != nil {
				t.Errorf("%q %v, want %q", data, err, step.want)
			}
		}
	})
}

func TestApacheRemoveLoses(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		c := s.Connect()
		q := newApache(c)
		mustOffer(t, q, "a")
		c.On("delete", 1, testconn.LoseReply)
		if data, err := q.Remove(t.Context()); data != nil ||
			!errors.Is(err, recipes.ErrAmbiguous) {
			t.Errorf("Remove: %q %v", data, err)
		}
		if _, err := q.Element(t.Context()); !errors.Is(err, ErrNoElement) {
			t.Errorf("Element: %v", err)
		}
	})
}
