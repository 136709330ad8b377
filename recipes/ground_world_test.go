package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/recipes"
)

// board collects the observations of the clients of a world.
type board struct {
	mu      sync.Mutex
	problem string
	lost    map[int64]time.Duration // by session: the time when Lost of a monitor was closed
}

func (b *board) fail(bad bool, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bad {
		b.problem += fmt.Sprintf(format+"; ", args...)
	}
}

// monitored follows the connections of all clients with monitors that believe in a session timeout.
// Lost of a session must be closed before the server ends it, unless a fault ends it at will, and
// in the end every client is connected in its present session.
func monitored(w *sim.World, timeout time.Duration) func(*trace.Result) string {
	w.SessionTimeout = 6 * time.Second
	b := &board{lost: map[int64]time.Duration{}}
	w.Clients = actors(func(ctx context.Context, c *sim.Client) { b.follow(ctx, c, timeout) })
	return func(res *trace.Result) string {
		for _, end := range res.Changes {
			at, told := b.lost[end.Owner]
			b.fail(
				end.Kind == trace.SessionEnded && end.Session == 0 && !endedAtWill(res, end) &&
					told && at > end.Time,
				"session %d ends at %v, lost at %v", end.Owner, end.Time, at,
			)
		}
		return b.problem
	}
}

// follow looks at the monitor of one client for 40 s, longer than two faults.
func (b *board) follow(ctx context.Context, c *sim.Client, timeout time.Duration) {
	m := recipes.NewConnMonitor(c.Conn(), timeout)
	var last recipes.ConnStatus
	for range 200 {
		if c.Sleep(ctx, 200*time.Millisecond) != nil {
			break
		}
		now := m.Status()
		if now.Epoch != last.Epoch && now.State == recipes.StateConnected {
			c.Note("epoch %d", now.Epoch)
			go func(ended <-chan struct{}) {
				<-ended
				b.mu.Lock()
				defer b.mu.Unlock()
				b.lost[now.Session] = c.Now()
			}(m.Lost())
		}
		b.fail(now.Epoch < last.Epoch || now.Epoch == last.Epoch && now.Session != last.Session,
			"%s: %+v after %+v", c.Name(), now, last)
		last = now
	}
	b.fail(last.State == recipes.StateConnected && last.Session != c.Conn().SessionID(),
		"%s is connected in session %d, says %+v", c.Name(), c.Conn().SessionID(), last)
	if err := m.Close(ctx); err != nil {
		c.Note("close: %v", err)
	}
}

// endedAtWill reports whether a fault has ended a session of the client.
func endedAtWill(res *trace.Result, end trace.Change) bool {
	return slices.ContainsFunc(res.Strikes, func(s trace.Strike) bool {
		return s.Client == res.SessionClient[end.Owner] &&
			(s.Fault.Kind == fault.Expire || s.Fault.Kind == fault.LateReap)
	})
}

func TestMonitorsInManyWorlds(t *testing.T) {
	inWorlds(t, func(w *sim.World) func(*trace.Result) string {
		return monitored(w, 6*time.Second)
	})
}

// TestMonitorsWithoutTimeoutAreLate is the control.
func TestMonitorsWithoutTimeoutAreLate(t *testing.T) {
	wantBadWorlds(t, func(w *sim.World) func(*trace.Result) string { return monitored(w, 0) })
}

// created makes ephemeral and persistent nodes in turn. At rest the returned nodes exist, except
// ephemeral ones of ended sessions. One more node may exist if its creation had an unknown outcome.
func created(
	w *sim.World,
	create func(ctx context.Context, conn *zk.Conn, kind recipes.NodeKind) (string, error),
) func(*trace.Result) string {
	w.Nodes = map[string]string{"/d": ""}
	var mu sync.Mutex
	made, doubts := map[string]recipes.NodeKind{}, 0
	w.Clients = actors(func(ctx context.Context, c *sim.Client) {
		for i := range 4 {
			kind := recipes.NodeKind(i % 2) // EphemeralSequential, PersistentSequential
			path, err := create(ctx, c.Conn(), kind)
			c.Note("created %s: %v", path, err)
			mu.Lock()
			if err == nil {
				made[path] = kind
			} else if errors.Is(err, recipes.ErrAmbiguous) {
				doubts++
			}
			mu.Unlock()
			if c.Sleep(ctx, 300*time.Millisecond) != nil {
				return
			}
		}
	})
	return func(res *trace.Result) (problem string) {
		left := leftovers(res, "/d")
		for path, kind := range made {
			if kind == recipes.PersistentSequential && !slices.Contains(left, path) {
				problem += path + " is missing; "
			}
		}
		strays := slices.DeleteFunc(left, func(path string) bool { _, ok := made[path]; return ok })
		if len(strays) > doubts {
			problem += fmt.Sprint("strays: ", strays)
		}
		return problem
	}
}

func TestProtectedCreationsInManyWorlds(t *testing.T) {
	protected := func(ctx context.Context, conn *zk.Conn, kind recipes.NodeKind) (string, error) {
		// Long enough for most faults: a World cannot order the GUIDs that an abandoned call
		// and the next one draw in the same moment.
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		node, err := recipes.CreateProtected(ctx, conn, "/d", "n-", nil, kind)
		return node.Path, err
	}
	inWorlds(t, func(w *sim.World) func(*trace.Result) string { return created(w, protected) })
}

// TestRepeatedCreationsLeaveStrays is the control.
func TestRepeatedCreationsLeaveStrays(t *testing.T) {
	repeated := func(
		_ context.Context, conn *zk.Conn, kind recipes.NodeKind,
	) (path string, err error) {
		flags := int32(zk.FlagSequence)
		if kind == recipes.EphemeralSequential {
			flags |= zk.FlagEphemeral
		}
		for range 10 {
			path, err = conn.Create("/d/n-", nil, flags, zk.WorldACL(zk.PermAll))
			if err == nil {
				break
			}
		}
		return path, err
	}
	wantBadWorlds(t, func(w *sim.World) func(*trace.Result) string { return created(w, repeated) })
}

// deleted deletes nodes under a context that ends soon. At rest none is there.
func deleted(
	w *sim.World, remove func(ctx context.Context, conn *zk.Conn, path string) error,
) func(*trace.Result) string {
	w.Nodes = map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		for i := range 4 {
			w.Nodes[fmt.Sprintf("/d/%s%d", name, i)] = ""
		}
	}
	w.Clients = actors(func(ctx context.Context, c *sim.Client) {
		for i := range 4 {
			soon, cancel := context.WithTimeout(ctx, time.Second)
			err := remove(soon, c.Conn(), fmt.Sprintf("/d/%s%d", c.Name(), i))
			cancel()
			c.Note("deleted: %v", err)
			if c.Sleep(ctx, 300*time.Millisecond) != nil {
				return
			}
		}
	})
	return func(res *trace.Result) string { return strings.Join(leftovers(res, "/d"), " ") }
}

func TestGuaranteedDeletionsInManyWorlds(t *testing.T) {
	guaranteed := func(ctx context.Context, conn *zk.Conn, path string) error {
		return recipes.GuaranteedDelete(ctx, conn, path)
	}
	inWorlds(t, func(w *sim.World) func(*trace.Result) string { return deleted(w, guaranteed) })
}

// TestPlainDeletionsLeaveNodes is the control.
func TestPlainDeletionsLeaveNodes(t *testing.T) {
	plain := func(_ context.Context, conn *zk.Conn, path string) error {
		return conn.Delete(path, -1)
	}
	wantBadWorlds(t, func(w *sim.World) func(*trace.Result) string { return deleted(w, plain) })
}
