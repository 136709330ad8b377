package main

import (
	"errors"
	"fmt"
	"time"
)

// idleTimeout is the session timeout of idle connections, the longest that a
// server with a tick of 2 s grants.
const idleTimeout = 40 * time.Second

// measureConnections measures with many idle connections.
func (c *memoryCommand) measureConnections(a *app, s *server, r *memoryResult) (err error) {
	if r.Unconnected, err = measureFootprint(a.ctx, s, c.Calm); err != nil {
		return err
	}
	var held idleConns
	defer func() { err = firstOf(err, held.close()) }()
	if err := held.open(a, s.addr, r.Connections); err != nil {
		return err
	}
	// Each has talked once, at the same time at last: sessions do not expire
	// within the seconds that reading takes.
	if err := held.ping(); err != nil {
		return err
	}
	if r.Connected, err = measureFootprint(a.ctx, s, c.Calm); err != nil {
		return err
	}
	// A connection that was lost meanwhile would have made the figure too small.
	return held.ping()
}

// idleConns are connections with sessions that are held but not used.
type idleConns struct {
	conns  []*rawConn
	pinged time.Time
}

// open opens n connections. It needs a file descriptor for each, as the server
// does; the Go runtime and the JVM raise their own limit as far as they may.
func (h *idleConns) open(a *app, addr string, n int) error {
	h.pinged = time.Now()
	for range n {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		c, err := rawSession(addr, idleTimeout)
		if err != nil {
			return fmt.Errorf("connection %d of %d (is the limit of ulimit -Hn high enough?): %w",
				len(h.conns)+1, n, err)
		}
		h.conns = append(h.conns, c)
		if time.Since(h.pinged) < idleTimeout/4 {
			continue
		}
		if err := h.ping(); err != nil {
			return err
		}
	}
	return nil
}

// ping keeps all sessions alive.
func (h *idleConns) ping() error {
	h.pinged = time.Now()
	for i, c := range h.conns {
		if err := c.ping(); err != nil {
			return fmt.Errorf("ping connection %d of %d: %w", i+1, len(h.conns), err)
		}
	}
	return nil
}

func (h *idleConns) close() error {
	var errs []error
	for _, c := range h.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
