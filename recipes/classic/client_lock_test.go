package classic

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func TestClientLockSharesItsPathWithLock(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		conn := s.Server.Connect(t)
		client := NewClientLock(conn, "/l", zk.WorldACL(zk.PermAll))
		ours := recipes.NewLock(conn, "/l")
		mustDo(t, client.Lock(t.Context()))
		if ok, err := ours.TryLock(t.Context()); ok || err != nil {
			t.Errorf("TryLock while the client's lock is held: %v %v", ok, err)
		}
		mustDo(t, client.Unlock(t.Context()))
		mustDo(t, ours.Lock(t.Context()))
		mustDo(t, ours.Unlock(t.Context()))
	})
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestClientLockLooksAtItsContextOnce(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		lock := NewClientLock(s.Server.Connect(t), "/l", zk.WorldACL(zk.PermAll))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := lock.Lock(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Lock: %v", err)
		}
		mustDo(t, lock.Lock(t.Context()))
		if err := lock.Lock(t.Context()); !errors.Is(err, zk.ErrDeadlock) {
			t.Errorf("Lock twice: %v", err)
		}
		mustDo(t, lock.Unlock(ctx))
	})
}

// TestClientLockIsUnusableAfterALostReply of its Unlock.
func TestClientLockIsUnusableAfterALostReply(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		lock := NewClientLock(s.Server.Connect(t), "/l", zk.WorldACL(zk.PermAll))
		mustDo(t, lock.Lock(t.Context()))
		mustDo(t, s.Inject(fault.Fault{Kind: fault.DropReply, Op: "delete", Request: 1}))
		if err := lock.Unlock(t.Context()); !errors.Is(err, zk.ErrConnectionClosed) {
			t.Errorf("Unlock whose reply is lost: %v", err)
		}
		if err := lock.Unlock(t.Context()); !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("Unlock again: %v", err)
		}
		if err := lock.Lock(t.Context()); !errors.Is(err, zk.ErrDeadlock) {
			t.Errorf("Lock: %v", err)
		}
	})
}
