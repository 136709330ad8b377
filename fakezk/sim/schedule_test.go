package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// Clients that only sleep and speak never wake the World: their lines must come
// in order of time all the same.
func TestTimeNeverGoesBackAlongATrace(t *testing.T) {
	r := mustRun(t, World{Clients: []Actor{
		actor("a", func(_ context.Context,
			c *Client) {
			time.Sleep(2 * time.Second)
			c.Note("later")
		}),
		actor("b", func(_ context.Context, c *Client) {
			time.Sleep(time.Second)
			c.Note("earlier")
			time.Sleep(5 * time.Second)
			c.Note("last")
		}),
	}})
	var last trace.Entry
	for n := range int64(r.Trace.Len()) {
		e := r.Trace.Entry(n + 1)
		if e.Time < last.Time {
			t.Errorf("time goes back:\n%s\n%s", last, e)
		}
		last = e
	}
	check.Equal(t, last.Text, "last", "the last line is %q", last)
}

// TestSleepersOfOneClientWakeTogether: two goroutines of one client that sleep to the same instant
// wake in one step, and their requests are ordered by content.
func TestSleepersOfOneClientWakeTogether(t *testing.T) {
	w := World{Clients: []Actor{actor("a", func(ctx context.Context, c *Client) {
		conn := c.Conn()
		done := make(chan struct{})
		for _, path := range []string{"/y", "/x"} {
			go func() {
				defer func() { done <- struct{}{} }()
				if c.Sleep(ctx, time.Second) == nil {
					_, err := conn.Create(path, nil, 0, worldACL)
					_ = err // the trace tells
				}
			}()
		}
		<-done
		<-done
	})}}
	for range 30 {
		if !runTwice(t, w) {
			return
		}
	}
}

func TestConnIsOneConnectionWhoeverAsksFirst(t *testing.T) {
	for range 20 {
		r := mustRun(t, World{Clients: []Actor{actor("a",
			func(_ context.Context, c *Client) {
				conns := make(chan *zk.Conn, 2)
				for range 2 {
					go func() { conns <- c.Conn() }()
				}
				if a, b := <-conns, <-conns; a != b {
					t.Error("two calls of Conn gave two connections")
				}
			})}})
		if len(r.SessionClient) > 1 {
			t.Fatalf("%d sessions; expected one", len(r.SessionClient))
		}
	}
}

func TestConnectGivesTheSessionEvents(t *testing.T) {
	r := mustRun(t,
		World{Clients: []Actor{actor("a", func(_ context.Context, c *Client) {
			_, events := c.Connect()
			for ev := range events {
				if ev.State == zk.StateHasSession {
					c.Note("has a session")
					return
				}
			}
		})}})
	check.Contains(t, r.Trace.String(), "has a session", "no event came: %s", r.Trace)
}

// A client with two connections: the numbers in Result.Events are those that
// event=N means, whichever notification arrives first.
func TestEventNumbersAreCoordinates(t *testing.T) {
	script := func(ctx context.Context, c *Client) {
		var conns []*zk.Conn
		for _, path := range []string{"/n1", "/n2"} {
			conn, _ := c.Connect()
			if _, _, _, err := conn.ExistsW(path); err != nil {
				return
			}
			conns = append(conns, conn)
		}
		for _, op := range []string{"/n1", "/n2"} {
			go func() {
				_, err := conns[0].Create(op, nil, 0, worldACL)
				_ = err // the connection may be cut under it
			}()
		}
		_ = c.Sleep(ctx, 3*time.Second)
	}
	for seed := range uint64(15) {
		w := World{Seed: seed, Clients: []Actor{actor("a", script)}}
		base := mustRun(t, w)
		w.Plan = []fault.Fault{{Kind: fault.Delay, For: time.Second, Client: "a", Event: 1}}
		r := mustRun(t, w)
		want := base.Events[0].Path
		if !strings.Contains(r.Trace.String(), "hits a's event NodeCreated "+want) {
			t.Fatalf("seed %d: event 1 is %s, but the fault hit something else:\n%s", seed,
				want, r.Trace)
		}
	}
}

// A dial that is under way when the blackhole opens hangs too.
func TestBlackholeCatchesADialUnderWay(t *testing.T) {
	marks.Expect(t, "dial before a black hole")
	for seed := range uint64(20) {
		r := mustRun(t, World{
			Seed: seed,
			Clients: []Actor{actor("a", func(ctx context.Context, c *Client) {
				c.Conn()
				_ = c.Sleep(ctx, 8*time.Second)
			})},
			Plan: []fault.Fault{
				{Kind: fault.Cut, Client: "a", At: time.Second},
				{Kind: fault.Blackhole, For: 5 * time.Second, Client: "a",
					At: time.Second + 2*time.Millisecond},
			},
		})
		for n := range int64(r.Trace.Len()) {
			e := r.Trace.Entry(n + 1)
			if strings.HasPrefix(e.Text, "connects") && e.Time > time.Second+2*time.Millisecond &&
				e.Time < 6*time.Second {
				t.Errorf("seed %d: connects in the blackhole: %s", seed, e)
			}
		}
	}
}

func TestADownServerEndsNoSession(t *testing.T) {
	r := mustRun(t, World{
		Clients: []Actor{actor("a", func(ctx context.Context, c *Client) {
			_, err := c.Conn().Create("/x", nil, zk.FlagEphemeral, worldACL)
			_ = err // it is there before the faults
			_ = c.Sleep(ctx, 10*time.Second)
		})},
		Plan: []fault.Fault{
			{Kind: fault.LateReap, For: 2 * time.Second, Client: "a", At: time.Second},
			{Kind: fault.Restart, For: 5 * time.Second, At: 2 * time.Second},
		},
	})
	for _, c := range r.Changes {
		if c.Kind == trace.SessionEnded && c.Time > 2*time.Second && c.Time < 7*time.Second {
			t.Errorf("a session ends at %s, while the server is down", c.Time)
		}
	}
}

func TestStrangeOptionsAreTamed(t *testing.T) {
	r := mustRun(t, World{
		Server: Settings{TickTime: 500 * time.Microsecond, MinSessionTimeout: time.Second,
			MaxSessionTimeout: time.Millisecond, MaxFrame: -1},
		Freeze:  3,
		Clients: lockers(1, 1),
	})
	if len(r.Panics) > 0 {
		t.Error(r.Panics)
	}
}
