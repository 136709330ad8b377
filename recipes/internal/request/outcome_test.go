package request

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
)

func TestOutcomeOf(t *testing.T) {
	for _, tc := range []struct {
		err       error
		outcome   Outcome
		transient bool
	}{
		{nil, Applied, false},
		{zk.ErrNoNode, NotApplied, false},
		{fmt.Errorf("wrapped: %w", zk.ErrNodeExists), NotApplied, false},
		{zk.ErrInvalidPath, NotApplied, false},
		{zk.ErrNoServer, NotApplied, true},
		{zk.ErrSessionMoved, NotApplied, true},
		{zk.ErrConnectionClosed, Unknown, true},
		{zk.ErrSessionExpired, Unknown, true},
		{io.ErrClosedPipe, Unknown, true},
		{zk.ErrClosing, Unknown, true},
		{zk.ErrShortBuffer, Unknown, false},
		{context.Canceled, Unknown, false},
		{ErrConnClosed, Unknown, false},
		{errors.New("unknown error: -4"), Unknown, true},
		{errors.New("unknown error: -125"), NotApplied, false},
		{errors.New("-125"), Unknown, true},
		{errors.New("unknown error: -127"), NotApplied, true},
	} {
		check.Equal(t, OutcomeOf(tc.err), tc.outcome, "OutcomeOf(%v)", tc.err)
		check.Equal(t, Transient(tc.err), tc.transient, "Transient(%v)", tc.err)
	}
}
