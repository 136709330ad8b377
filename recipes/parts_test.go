package recipes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

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
		{errors.New("unknown error: -127"), NotApplied, true},
	} {
		check.Equal(t, OutcomeOf(tc.err), tc.outcome, "OutcomeOf(%v)", tc.err)
		check.Equal(t, transient(tc.err), tc.transient, "transient(%v)", tc.err)
	}
}

func TestParseNumbered(t *testing.T) {
	for name, want := range map[string]int32{
		"_c_0123-lock-0000000007":    7,
		"lock-2147483647":            1<<31 - 1,
		"_c_0123-lock--2147483648":   -1 << 31,
		"_c_0123-lock--000000005":    -5, // %010d counts the sign
		"0123abcd__lock__0000000001": 1,
	} {
		if n, ok := parseNumbered(name, lockMarkers...); !ok || n.seq != want {
			t.Errorf("parse %q: %v %v, want %d", name, n.seq, ok, want)
		}
	}
	for _, name := range []string{
		"", "x", "_c_", "lock-", "lock-1", "lock-+123456789", "lock-99999999999", "0000000001",
	} {
		if n, ok := parseNumbered(name, lockMarkers...); ok {
			t.Errorf("parse %q: %v, want foreign", name, n)
		}
	}
}

func TestSortAcrossWrap(t *testing.T) {
	in := []string{
		"x-item--2147483647", "x-item-2147483646", "x-item--2147483648", "x-item-2147483647",
	}
	want := []string{in[1], in[3], in[2], in[0]}
	var got []string
	for _, n := range sortNumbered(in, itemMarker) {
		got = append(got, n.name)
	}
	check.List(t, got, want, "sorted")
}

func TestFlappingConnectionIsNotTakenForClosed(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		for i := range 30 {
			c.On("create", i+1, loseRequest)
		}
		l := NewLock(c, "/l")
		mustLock(t, l)
		mustUnlock(t, l)
	})
}

func TestOptionsReachTheNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		acl := zk.WorldACL(zk.PermAll &^ zk.PermAdmin)
		l := NewLock(s.Connect(), "/l", Data([]byte("host")), ACL(acl...),
			RecheckEvery(time.Second))
		mustLock(t, l)
		n, _ := s.Node(l.Path())
		if string(n.Data) != "host" || !slices.Equal(l.opts.acl, acl) ||
			l.opts.recheck != time.Second {
			t.Errorf("data %q, options %+v", n.Data, l.opts)
		}
		mustUnlock(t, l)
	})
}
