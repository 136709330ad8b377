package bubble

import (
	"context"
	"net"
	"time"
)

// A Dialer makes the connection of a dial by TCP to any address. A deadline that is zero is none.
type Dialer func(ctx context.Context, deadline time.Time) (net.Conn, error)
