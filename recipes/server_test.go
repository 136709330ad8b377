package recipes

import (
	"testing"

	"github.com/zksim/zksim/recipes/internal/testconn"
)

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
