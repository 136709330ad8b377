package recipes

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// TestServerThatResetsAtOnceIsNotTakenForClosed: a server that authenticates and then resets at
// once answers like a closed Conn, but the client's state differs.
func TestServerThatResetsAtOnceIsNotTakenForClosed(t *testing.T) {
	for name, seen := range map[string][]zk.State{
		"has session":              {zk.StateHasSession},
		"connecting":               {zk.StateConnecting},
		"connecting, disconnected": {zk.StateConnecting, zk.StateDisconnected},
		"disconnected, connecting": {zk.StateDisconnected, zk.StateConnecting},
		"once connecting": {
			zk.StateDisconnected, zk.StateDisconnected, zk.StateDisconnected, zk.StateDisconnected,
			zk.StateDisconnected, zk.StateDisconnected, zk.StateDisconnected, zk.StateConnecting,
		},
	} {
		t.Run(name, func(t *testing.T) {
			everyLock(t,
				func(t *testing.T, s *testServer, newLock func(Conn, ...Option) handleLocker) {
					c := s.Connect()
					l := newLock(c)
					mustLock(t, l)
					c.Cut(30, seen...)
					mustUnlock(t, l)
					s.WantBelow(t, "/locks/a", 0)
				})
		})
	}
}

func TestNewSessionEndsTheSeriesOfFailures(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		c.Cut(12, zk.StateDisconnected)
		time.AfterFunc(time.Second, func() { c.Expire() })
		if err := NewQueue(c, "/q").Offer(t.Context(), nil); err != nil {
			t.Errorf("Offer: %v", err)
		}
	})
}

func TestClosedConnIsRecognisedInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		c.Close()
		began := time.Now()
		if err := NewLock(c, "/l").Lock(t.Context()); !errors.Is(err, ErrConnClosed) {
			t.Errorf("Lock: %v", err)
		}
		if took := time.Since(began); took < closedFor || took > 1300*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}
