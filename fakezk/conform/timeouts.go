package conform

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// SessionTimeouts asks a server for its shortest and its longest session timeout:
// a client that wants one beyond is granted these. The two sessions that it takes
// are closed again.
func SessionTimeouts(ctx context.Context, t Target) (shortest, longest time.Duration, err error) {
	if shortest, err = granted(ctx, t, 1); err != nil {
		return 0, 0, err
	}
	longest, err = granted(ctx, t, math.MaxInt32)
	return shortest, longest, err
}

// granted begins a session, closes it, and tells the timeout that it had.
func granted(ctx context.Context, t Target, timeoutMs int32) (time.Duration, error) {
	t.patience = defaultPatience
	l, err := dial(ctx, t)
	if err != nil {
		return 0, err
	}
	defer l.close()
	c := &cleaner{link: l, t: t}
	l.write(wire.AppendConnectRequest(nil, proto.ConnectRequest{TimeoutMs: timeoutMs, Password: make([]byte, 16)}))
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
