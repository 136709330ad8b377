package recipes_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/recipes"
)

// scoreboard has numbers that the clients of a world share outside of it.
type scoreboard struct {
	mu      sync.Mutex
	numbers map[string]int
	problem string
}

func newScoreboard() *scoreboard { return &scoreboard{numbers: map[string]int{}} }

// add adds to a number and returns it.
func (b *scoreboard) add(name string, n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.numbers[name] += n
	return b.numbers[name]
}

func (b *scoreboard) fail(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problem = fmt.Sprintf(format, args...)
}

// actors are clients a, b and c with the same script.
func actors(script func(ctx context.Context, c *sim.Client)) []sim.Actor {
	var list []sim.Actor
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, sim.Actor{Name: name, Run: script})
	}
	return list
}

// endsSessions reports whether a fault may end a session; the client learns of it later than the
// others.
func endsSessions(f fault.Fault) bool {
	return f.Kind == fault.Expire || f.Kind == fault.LateReap || f.For > 3*time.Second
}

// wantClean adds unexpected nodes below path to the problem.
func (b *scoreboard) wantClean(res *trace.Result, path string) string {
	if left := leftovers(res, path); len(left) > 0 {
		return b.problem + fmt.Sprint(" left over: ", left)
	}
	return b.problem
}

// TestBarriersInManyWorlds: b and c pass only after a, which has set the barrier, has begun to take
// it down.
func TestBarriersInManyWorlds(t *testing.T) {
	inWorlds(t, func(w *sim.World) func(*trace.Result) string {
		board := newScoreboard()
		sets := func(ctx context.Context, c *sim.Client) {
			b := recipes.NewBarrier(c.Conn(), "/g/b")
			if err := b.Set(ctx); err != nil {
				board.fail("Set: %v", err)
			}
			board.add("up", 1)
			if c.Sleep(ctx, 5*time.Second) != nil {
				return
			}
			board.add("down", 1)
			if err := b.Remove(ctx); err != nil {
				board.fail("Remove: %v", err)
			}
		}
		waits := func(ctx context.Context, c *sim.Client) {
			for board.add("up", 0) == 0 {
				if c.Sleep(ctx, 100*time.Millisecond) != nil {
					return
				}
			}
			if err := recipes.NewBarrier(c.Conn(), "/g/b").Wait(ctx); err != nil {
				board.fail("Wait: %v", err)
			}
			if board.add("down", 0) == 0 {
				board.fail("%s has passed a barrier that is up", c.Name())
			}
			board.add("passed", 1)
		}
		w.Clients = []sim.Actor{
			{Name: "a", Run: sets}, {Name: "b", Run: waits}, {Name: "c", Run: waits},
		}
		return func(res *trace.Result) string {
			if n := board.add("passed", 0); n != 2 {
				board.fail("%d have passed", n)
			}
			return board.wantClean(res, "/g")
		}
	})
}

// TestDoubleBarriersInManyWorlds: no client enters before all three have come in this round, or
// leaves before all have begun to leave or have lost their session.
func TestDoubleBarriersInManyWorlds(t *testing.T) {
	inWorlds(t, func(w *sim.World) func(*trace.Result) string {
		board := newScoreboard()
		w.Clients = actors(func(ctx context.Context, c *sim.Client) {
			b := recipes.NewDoubleBarrier(c.Conn(), "/d", 3)
			board.add("here", 1)
			patience, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			err := b.Enter(patience)
			if here := board.add("here", 0); err == nil && here < 3 {
				board.fail("%s has entered with %d", c.Name(), here)
			}
			if err != nil { // the others cannot enter any more
				c.Note("enter: %v", err)
				board.add("lost", 1)
				return
			}
			if c.Sleep(ctx, 50*time.Millisecond) != nil {
				return
			}
			select {
			case <-b.Lost():
				board.add("lost", 1)
			default:
			}
			board.add("leaves", 1)
			err = b.Leave(ctx)
			if left := board.add("leaves", 0); err != nil ||
				left < 3 && board.add("lost", 0) == 0 &&
					!slices.ContainsFunc(w.Plan, endsSessions) {
				board.fail("%s has left after %d: %v", c.Name(), left, err)
			}
		})
		return func(res *trace.Result) string { return board.wantClean(res, "/d") }
	})
}

// TestThresholdBarriersInManyWorlds: no client passes before two have come.
func TestThresholdBarriersInManyWorlds(t *testing.T) {
	inWorlds(t, func(w *sim.World) func(*trace.Result) string {
		board := newScoreboard()
		w.Clients = actors(func(ctx context.Context, c *sim.Client) {
			b := recipes.NewThresholdBarrier(c.Conn(), "/t")
			if c.Name() == "a" {
				if err := b.Set(ctx, 2); err != nil {
					board.fail("Set: %v", err)
				}
			}
			if c.Sleep(ctx, time.Duration(c.Name()[0]-'a')*time.Second) != nil {
				return
			}
			board.add("here", 1)
			if err := b.Wait(ctx); err != nil {
				board.fail("%s: %v", c.Name(), err)
			}
			if here := board.add("here", 0); here < 2 {
				board.fail("%s has passed with %d", c.Name(), here)
			}
			board.add("passed", 1)
		})
		return func(res *trace.Result) string {
			if n := board.add("passed", 0); n != 3 {
				board.fail("%d have passed", n)
			}
			return board.wantClean(res, "/t")
		}
	})
}
