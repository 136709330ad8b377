package conform

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// SessionTimeouts returns a server's shortest and longest session timeout. It creates two
// sessions with timeouts beyond these, and closes them.
func SessionTimeouts(ctx context.Context, t Target) (shortest, longest time.Duration, err error) {
	if shortest, err = granted(ctx, t, 1); err != nil {
		return 0, 0, err
	}
	longest, err = granted(ctx, t, math.MaxInt32)
	return shortest, longest, err
}

// granted creates a session, closes it, and returns its negotiated timeout.
func granted(ctx context.Context, t Target, timeoutMs int32) (time.Duration, error) {
	t.patience = defaultPatience
	l, err := dial(ctx, t)
	if err != nil {
		return 0, err
	}
	defer l.close()
	c := &cleaner{link: l, t: t}
	connect := proto.ConnectRequest{TimeoutMs: timeoutMs, Password: make([]byte, 16)}
	l.write(wire.AppendConnectRequest(nil, connect))
	frame, err := c.receive(ctx)
	if err != nil {
		return 0, fmt.Errorf("connect to %s: %w", t.Name, err)
	}
	resp, ok := connectResponse(frame)
	if !ok || resp.SessionID == 0 {
		return 0, fmt.Errorf("connect to %s: no session: answered % x", t.Name, frame)
	}
	_, err = c.call(ctx, &proto.Simple{Code: proto.OpCloseSession})
	return time.Duration(resp.TimeoutMs) * time.Millisecond, err
}
