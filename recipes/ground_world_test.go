package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// badWorlds counts, for a negative control, the worlds in which something is wrong.
func badWorlds(t *testing.T, run func(w *sim.World) (judge func(*trace.Result) string)) (bad int) {
	t.Helper()
	for seed := range max(seeds(), 20) {
		w := sim.World{Seed: seed, Plan: randomPlan(rand.New(rand.NewPCG(seed, 7)))}
		judge := run(&w)
		res, err := w.Run()
		if err != nil {
			t.Fatal(err)
		}
		if judge(res) != "" {
			bad++
		}
	}
	return bad
}

// monitored follows the connections of all clients with monitors that believe in a session timeout.
// Lost of a session must be closed before the server ends it, unless a fault ends it at will, and
// in the end every client is connected in its present session.
func monitored(w *sim.World, timeout time.Duration) func(*trace.Result) string {
	const granted = 6 * time.Second
	w.SessionTimeout = granted
	var mu sync.Mutex
	var problem string
	lost := map[int64]time.Duration{} // by session
	w.Clients = actors(func(ctx context.Context, c *sim.Client) {
		m := recipes.NewConnMonitor(c.Conn(), timeout)
		var last recipes.ConnStatus
		for range 200 { // 40 s, longer than two faults
			if c.Sleep(ctx, 200*time.Millisecond) != nil {
				break
			}
			now := m.Status()
			if now.Epoch != last.Epoch && now.State == recipes.StateConnected {
				c.Note("epoch %d", now.Epoch)
				go func(ended <-chan struct{}) {
					<-ended
					mu.Lock()
					defer mu.Unlock()
					lost[now.Session] = c.Now()
				}(m.Lost())
			}
			mu.Lock()
			if now.Epoch < last.Epoch || now.Epoch == last.Epoch && now.Session != last.Session {
				problem += fmt.Sprintf("%s: %+v after %+v; ", c.Name(), now, last)
			}
			mu.Unlock()
			last = now
		}
		mu.Lock()
		if last.State == recipes.StateConnected && last.Session != c.Conn().SessionID() {
			problem += fmt.Sprintf(
				"%s is connected in session %d, says %+v; ", c.Name(), c.Conn().SessionID(), last,
			)
		}
		mu.Unlock()
		if err := m.Close(ctx); err != nil {
			c.Note("close: %v", err)
		}
	})
	return func(res *trace.Result) string {
		for _, end := range res.Changes {
			if end.Kind != trace.SessionEnded || end.Session != 0 || endedAtWill(res, end) {
				continue
			}
			if at, told := lost[end.Owner]; told && at > end.Time {
				problem += fmt.Sprintf(
					"session %d of %s ends at %v, lost at %v; ",
					end.Owner, res.SessionClient[end.Owner], end.Time, at,
				)
			}
		}
		return problem
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
	inWorlds(
		t, func(w *sim.World) func(*trace.Result) string { return monitored(w, 6*time.Second) },
	)
}

// TestMonitorsWithoutTimeoutAreLate is the control.
func TestMonitorsWithoutTimeoutAreLate(t *testing.T) {
	if badWorlds(t, func(w *sim.World) func(*trace.Result) string { return monitored(w, 0) }) == 0 {
		t.Error("all are told in time")
	}
}

// created makes ephemeral and persistent nodes in turn. At rest the returned nodes exist, except
// ephemeral ones of ended sessions. One more node may exist if its creation had an unknown outcome.
func created(
	w *sim.World,
	create func(ctx context.Context, conn *zk.Conn, kind recipes.NodeKind) (string, error),
) func(*trace.Result) string {
	w.Nodes = map[string]string{"/d": ""}
	var mu sync.Mutex
	made := map[string]recipes.NodeKind{}
	doubts := 0
	w.Clients = actors(func(ctx context.Context, c *sim.Client) {
		for i := range 4 {
			kind := []recipes.NodeKind{
				recipes.EphemeralSequential, recipes.PersistentSequential,
			}[i%2]
			path, err := create(ctx, c.Conn(), kind)
			c.Note("created %s: %v", path, err)
			mu.Lock()
			switch {
			case err == nil:
				made[path] = kind
			case errors.Is(err, recipes.ErrAmbiguous):
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
	inWorlds(t, func(w *sim.World) func(*trace.Result) string {
		return created(w, func(
			ctx context.Context, conn *zk.Conn, kind recipes.NodeKind,
		) (string, error) {
			// Long enough for most faults: a World cannot order the GUIDs that an abandoned call
			// and the next one draw in the same moment.
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			node, err := recipes.CreateProtected(ctx, conn, "/d", "n-", nil, kind)
			return node.Path, err
		})
	})
}

// TestRepeatedCreationsLeaveStrays is the control.
func TestRepeatedCreationsLeaveStrays(t *testing.T) {
	bad := badWorlds(t, func(w *sim.World) func(*trace.Result) string {
		return created(w, func(
			_ context.Context, conn *zk.Conn, kind recipes.NodeKind,
		) (path string, err error) {
			flags := int32(zk.FlagSequence)
			if kind == recipes.EphemeralSequential {
				flags |= zk.FlagEphemeral
			}
			for range 10 {
				if path, err = conn.Create(
					"/d/n-", nil, flags, zk.WorldACL(zk.PermAll),
				); err == nil {
					break
				}
			}
			return path, err
		})
	})
	if bad == 0 {
		t.Error("nothing is left")
	}
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
	inWorlds(t, func(w *sim.World) func(*trace.Result) string {
		return deleted(w, func(ctx context.Context, conn *zk.Conn, path string) error {
			return recipes.GuaranteedDelete(ctx, conn, path)
		})
	})
}

// TestPlainDeletionsLeaveNodes is the control.
func TestPlainDeletionsLeaveNodes(t *testing.T) {
	bad := badWorlds(t, func(w *sim.World) func(*trace.Result) string {
		return deleted(
			w, func(_ context.Context, conn *zk.Conn, path string) error {
				return conn.Delete(path, -1)
			},
		)
	})
	if bad == 0 {
		t.Error("nothing is left")
	}
}
