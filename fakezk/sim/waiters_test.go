package sim

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
)

// together has goroutines that one event wakes, in the order in which they began to wait. Each then
// pauses as long as the others, and makes a node with the same request.
func together(await func(conn *zk.Conn, path string) error, plan []fault.Fault) World {
	return World{Seed: 3, SessionTimeout: 4 * time.Second, Plan: plan, Clients: []Actor{
		actor("a", func(ctx context.Context, c *Client) {
			conn := c.Conn()
			conn.Create("/n", nil, 0, worldACL)
			c.Goroutines(4, func(g *Goroutine) {
				time.Sleep(time.Duration(1+g.Number()) * 100 * time.Millisecond)
				err := await(conn, "/n")
				time.Sleep(30 * time.Millisecond)
				path, createErr := conn.Create("/n/x-", nil, zk.FlagSequence, worldACL)
				g.Note("after %v it makes %s, %v", err, path, createErr)
			})
		}),
		actor("b", func(ctx context.Context, c *Client) {
			if c.Sleep(ctx, 20*time.Second) == nil {
				c.Conn().Delete("/n", -1) // fails, but for the run without x
				c.Conn().Set("/n", nil, -1)
			}
		}),
	}}
}

// watches waits for the watch of a node.
func watches(conn *zk.Conn, path string) error {
	_, _, ch, err := conn.GetW(path)
	if err != nil {
		return err
	}
	return (<-ch).Err
}

// reads waits for a reply.
func reads(conn *zk.Conn, path string) error {
	_, _, err := conn.Get(path)
	return err
}

// TestWaitersWakeOneByOne whatever wakes them, and so each run is the same.
func TestWaitersWakeOneByOne(t *testing.T) {
	for name, world := range map[string]World{
		"the end of a connection":  together(reads, parse(t, "blackhole 5500ms client=a request=2")),
		"a silent connection":      together(reads, parse(t, "blackhole 30s client=a request=2")),
		"a change of a node":       together(watches, nil),
		"the end of their session": together(watches, parse(t, "expire client=a at=10s")),
	} {
		first := mustRun(t, world)
		for range 30 {
			again := mustRun(t, world)
			if d := again.Trace.String(); d != first.Trace.String() {
				t.Errorf("%s: two runs differ:\n%s\n%s", name, first.Trace, d)
				break
			}
		}
	}
}
