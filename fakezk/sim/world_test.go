package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
)

// lockers are n clients that take the client library's own lock in turn.
func lockers(n, rounds int) []sim.Actor {
	var actors []sim.Actor
	for i := range n {
		actors = append(actors, sim.Actor{Name: string(rune('a' + i)),
			Run: func(ctx context.Context, c *sim.Client) {
				for range rounds {
					lock := zk.NewLock(c.Conn(), "/lock", zk.WorldACL(zk.PermAll))
					c.Note("lock")
					if err := lock.Lock(); err != nil {
						c.Note("lock failed: %v", err)
						continue
					}
					c.Note("locked")
					if c.Sleep(ctx, 50*time.Millisecond) != nil {
						return
					}
					c.Note("unlock: %v", lock.Unlock())
				}
			}})
	}
	return actors
}

func TestLockersTakeTurns(t *testing.T) {
	r, err := sim.World{Seed: 1, Clients: lockers(3, 2)}.Run()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Busy)+len(r.Panics) > 0 || r.Leaked+r.Frozen != "" {
		t.Fatalf("busy %v panics %v leaked %s frozen %s\n%s", r.Busy, r.Panics, r.Leaked, r.Frozen,
			r.Trace)
	}
	text := r.Trace.String()
	if got := strings.Count(text, "unlock: <nil>"); got != 6 ||
		strings.Contains(text, "lock failed") {
		t.Errorf("%d of 6 rounds\n%s", got, text)
	}
	holder := ""
	for n := range int64(r.Trace.Len()) {
		switch words := strings.Fields(r.Trace.Line(n + 1)); words[3] {
		case "locked":
			if holder != "" {
				t.Errorf("%s locks while %s holds\n%s", words[2], holder, text)
			}
			holder = words[2]
		case "deleted":
			holder = ""
		}
	}
}
