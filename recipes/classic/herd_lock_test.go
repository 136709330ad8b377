package classic

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/recipes"
)

// TestAReleaseOfTheHerdLockWakesAll and one of the fair lock wakes one: of a thousand waiters, if
// the tests run in full.
func TestAReleaseOfTheHerdLockWakesAll(t *testing.T) {
	waiters := testrun.Pick(30, 1000)
	herd := notified(t, waiters, func(c *sim.Client) locker {
		return NewHerdLock(c.Conn(), "/l/node")
	})
	fair := notified(t, waiters, func(c *sim.Client) locker {
		return recipes.NewLock(c.Conn(), "/l")
	})
	if herd != waiters || fair != 1 {
		t.Errorf("of %d waiters, one release wakes %d of the herd lock, and %d of the fair one",
			waiters, herd, fair)
	}
}

// notified returns the number of notifications of the first release of a lock.
func notified(t *testing.T, waiters int, open func(c *sim.Client) locker) int {
	const release = 10 * time.Second
	holds := func(ctx context.Context, c *sim.Client) {
		l := open(c)
		c.Note("%v, %v, %v", l.Lock(ctx), c.Sleep(ctx, release-c.Now()), l.Unlock(ctx))
	}
	waits := func(ctx context.Context, c *sim.Client) {
		c.Note("%v", c.Sleep(ctx, time.Second))
		ctx, cancel := context.WithTimeout(ctx, release-c.Now()+100*time.Millisecond)
		defer cancel()
		c.Note("%v", open(c).Lock(ctx))
	}
	w := sim.World{Clients: []sim.Actor{{Name: "holder", Run: holds}}}
	for i := range waiters {
		w.Clients = append(w.Clients, sim.Actor{Name: fmt.Sprint("waiter-", i), Run: waits})
	}
	res, err := w.Run()
	check.OK(t, err)
	for _, c := range res.Changes {
		if c.Kind == trace.NodeDeleted && c.Time >= release && strings.HasPrefix(c.Path, "/l/") &&
			!strings.HasPrefix(c.Path, "/l/node-") { // with the name of an attempt
			return c.Notified
		}
	}
	return 0
}

type locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}
