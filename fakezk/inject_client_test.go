package fakezk

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// TestGenuineClientUnderInjectedFaults: the genuine client reacts to each fault on its second
// request as it does in a World, apart from the latencies.
func TestGenuineClientUnderInjectedFaults(t *testing.T) {
	disconnected := []zk.State{zk.StateDisconnected, zk.StateHasSession}
	expired := []zk.State{zk.StateDisconnected, zk.StateExpired, zk.StateDisconnected,
		zk.StateHasSession}
	tests := []struct {
		line          string
		first, second string        // outcomes of two creates of /x
		told          []zk.State    // after the session began
		from, till    time.Duration // when the second create is answered
		ephemeral     bool          // whether /e is still there
	}{
		{"drop-request request=2", lostReply, created, disconnected, 0, 0, true},
		{"drop-reply request=2", lostReply, already, disconnected, 0, 0, true},
		{"cut request=2", created, already, disconnected, 0, 0, true},
		{"cut-mid-frame request=2", lostReply, already, disconnected, 0, 0, true},
		{"stall 3s request=2", created, already, nil, 3 * second, 3 * second, true},
		{"stall-mid-frame 3s request=2", created, already, nil, 3 * second, 3 * second, true},
		{"delay 3s request=2", created, already, nil, 3 * second, 3 * second, true},
		{"blackhole 1s request=2", lostReply, created, disconnected, recvTimeout,
			recvTimeout + second, true},
		{"blackhole 13s request=2", lostReply, created, expired, 13 * second, 15 * second,
			false}, // it expires after 12 s
		{"refuse 3s request=2", lostReply, created, disconnected, 3 * second, 4 * second, true},
		{"restart 3s request=2", lostReply, created, disconnected, 3 * second, 4 * second, true},
		{"expire request=2", lostReply, created, expired, 0, second, false},
		{"late-reap-unlike-3.8 3s request=2", lostReply, created, expired, 0, second, true},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *Server) {
				c, told := client(t, s, DefaultSessionTimeout)
				told.take()
				injectLine(t, s, test.line)
				mustCreate(t, c, "/e", zk.FlagEphemeral)
				began := time.Now()
				create := func() string {
					_, err := c.Create("/x", nil, 0, openACL)
					// it waited in the client's queue
					for err == zk.ErrSessionExpired || err == zk.ErrNoServer {
						_, err = c.Create("/x", nil, 0, openACL)
					}
					return fmt.Sprintf("create /x: %v", err)
				}
				check.Equal(t, create(), test.first, "first")
				synctest.Wait() // a request sent into a connection that is cut already is lost
				check.Equal(t, create(), test.second, "second")
				between(t, "the second answer", time.Since(began), test.from, test.till)
				// A refused client gets the event again at each handshake.
				check.List(t, slices.Compact(told.take()), test.told, "told")
				if there := slices.ContainsFunc(s.Tree(), func(n view.Node) bool {
					return n.Path == "/e"
				}); there != test.ephemeral {
					t.Errorf("the ephemeral: %v", there)
				}
				if status := s.Faults(); len(status) != 1 || !status[0].Fired ||
					status[0].Matched != 2 {
					t.Errorf("faults %+v", status)
				}
			})
		})
	}
}

// A watch event is not lost by a fault that hits it: the client gets it late, or
// again when it comes back.
func TestGenuineClientUnderInjectedFaultsOnEvents(t *testing.T) {
	tests := []struct {
		line     string
		from, to time.Duration
	}{
		{"cut event=1", 0, second},
		{"cut-mid-frame event=1", 0, second},
		{"stall 3s event=1", 3 * second, 3 * second},
		{"stall-mid-frame 3s event=1", 3 * second, 3 * second},
		{"delay 3s event=1 path=/x", 3 * second, 3 * second},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *Server) {
				c, _ := client(t, s, DefaultSessionTimeout)
				injectLine(t, s, test.line)
				_, _, ch, err := c.ExistsW("/x")
				check.OK(t, err)
				began := time.Now()
				mustDo(t, s.Put("/x", nil))
				if ev := <-ch; ev.Type != zk.EventNodeCreated || ev.Err != nil {
					t.Errorf("event %+v", ev)
				}
				between(t, "the event", time.Since(began), test.from, test.to)
				mustCreate(t, c, "/after", 0)
			})
		})
	}
}

func TestSessionsAreNamedInOrderOfCreation(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		a, _ := client(t, s, DefaultSessionTimeout)
		b, _ := client(t, s, DefaultSessionTimeout)
		mustDo(t, s.ExpireSession(a.SessionID()))
		time.Sleep(2 * time.Second) // a gets another one
		names := map[int64]string{b.SessionID(): "S2", a.SessionID(): "S3"}
		sessions := s.Sessions()
		if len(sessions) != 2 {
			t.Fatalf("sessions %+v", sessions)
		}
		for _, session := range sessions {
			check.Equal(t, session.Name, names[session.ID], "session 0x%x is called", session.ID)
		}
	})
}

// The client's results of a create of /x, and times.
const (
	created     = "create /x: <nil>"
	lostReply   = "create /x: zk: connection closed"
	already     = "create /x: zk: node already exists"
	second      = time.Second
	recvTimeout = 2 * DefaultSessionTimeout / 3
)

func between(t *testing.T, what string, at, low, high time.Duration) {
	t.Helper()
	if at < low || at > high {
		t.Errorf("%s at %s, want it between %s and %s", what, at, low, high)
	}
}
