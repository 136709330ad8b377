package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
)

// sessionTimeout is the timeout that clients request: long enough for a client that gets no
// processor for a while.
const sessionTimeout = 30 * time.Second

// clientBuffer replaces the client's two buffers of 1.5 MB for each connection.
const clientBuffer = 64 << 10

var openACL = zk.WorldACL(zk.PermAll)

// connect opens n connections of the genuine client, each with a session.
func connect(ctx context.Context, addr string, n int) ([]*zk.Conn, error) {
	conns := make([]*zk.Conn, 0, n)
	for range n {
		c, err := connectOne(ctx, net.DialTimeout, addr)
		if err != nil {
			closeAll(conns)
			return nil, fmt.Errorf("connection %d of %d: %w", len(conns)+1, n, err)
		}
		conns = append(conns, c)
	}
	return conns, nil
}

func connectOne(ctx context.Context, dial zk.Dialer, addr string) (*zk.Conn, error) {
	connected := make(chan struct{})
	var once sync.Once
	c, _, err := zk.Connect([]string{addr}, sessionTimeout,
		zk.WithDialer(dial), zk.WithHostProvider(fakezk.HostProvider()),
		zk.WithLogger(log.New(io.Discard, "", 0)), zk.WithLogInfo(false),
		zk.WithMaxBufferSize(clientBuffer), zk.WithMaxConnBufferSize(clientBuffer),
		zk.WithEventCallback(func(ev zk.Event) {
			if ev.State == zk.StateHasSession {
				once.Do(func() { close(connected) })
			}
		}))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	select {
	case <-connected:
		return c, nil
	case <-ctx.Done():
		c.Close()
		return nil, fmt.Errorf("connect to %s: no session: %w", addr, ctx.Err())
	}
}

// closeAll ends the sessions side by side.
func closeAll(conns []*zk.Conn) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(c.Close)
	}
	wg.Wait()
}

// createIfMissing creates a persistent node that may be there already.
func createIfMissing(c *zk.Conn, path string, data []byte) error {
	_, err := c.Create(path, data, zk.FlagPersistent, openACL)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}
