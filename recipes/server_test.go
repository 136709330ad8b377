package recipes

import (
	"context"
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
