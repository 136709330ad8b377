package recipes

import (
	"context"
	"errors"
	"testing"

	"github.com/zksim/zksim/recipes/internal/testconn"
)

// locker has the common methods of most locks.
type locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// queuer has the common methods of the first-in-first-out queues.
type queuer interface {
	Offer(ctx context.Context, data []byte) error
	Peek(ctx context.Context) (data []byte, ok bool, err error)
	Poll(ctx context.Context) (data []byte, ok bool, err error)
	Take(ctx context.Context) ([]byte, error)
}

type (
	testServer = testconn.Server
	testConn   = testconn.Conn
	rule       = testconn.Rule
)

var (
	loseReply   = testconn.LoseReply
	loseRequest = testconn.LoseRequest
	netError    = testconn.NetError
	noServer    = testconn.NoServer
	refusal     = testconn.Refused
)

func inBubble(t *testing.T, test func(t *testing.T, s *testServer)) { testconn.InBubble(t, test) }

// mustDo reports an error. Like mustClose it may be called from any goroutine.
func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// wantError reports an error that does not wrap want.
func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v; want %v", err, want)
	}
}

func mustClose(t *testing.T, recipes ...interface{ Close(context.Context) error }) {
	t.Helper()
	for _, r := range recipes {
		mustDo(t, r.Close(t.Context()))
	}
}
