package recipes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/recipes"
)

// seeds is the number of worlds for each test of this file: RECIPES_SEEDS, or a few.
func seeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("RECIPES_SEEDS"), 10, 64); err == nil {
		return n
	}
	return 10
}

// randomPlan draws up to three faults for clients a, b, c.
func randomPlan(rng *rand.Rand) []fault.Fault {
	kinds := fault.Kinds()
	var plan []fault.Fault
	for range rng.IntN(4) {
		k := kinds[rng.IntN(len(kinds))]
		f := fault.Fault{Kind: k.Kind, Client: string(rune('a' + rng.IntN(3)))}
		if k.Lasts {
			f.For = time.Duration(1+rng.IntN(15000)) * time.Millisecond
		}
		switch {
		case k.OnTime && rng.IntN(3) == 0:
			f.At = time.Duration(1+rng.IntN(2000)) * time.Millisecond
		case k.OnEvent && rng.IntN(3) == 0:
			f.Event = 1 + rng.IntN(3)
		default:
			f.Request = 1 + rng.IntN(20)
		}
		plan = append(plan, f)
	}
	return plan
}

// inWorlds runs scripts for clients a, b and c in many worlds, each twice, and gives both results
// to judge.
func inWorlds(t *testing.T, run func(w *sim.World) (judge func(*trace.Result) string)) {
	for seed := range seeds() {
		plan := randomPlan(rand.New(rand.NewPCG(seed, 7)))
		var hashes [2]string
		for i := range hashes {
			w := sim.World{Seed: seed, Plan: plan}
			judge := run(&w)
			res, err := w.Run()
			if err != nil {
				t.Fatal(err)
			}
			hashes[i] = res.Trace.Hash()
			problem := judge(res)
			if res.Leaked+res.Frozen != "" || len(res.Panics)+len(res.Busy) > 0 {
				problem += fmt.Sprintf(
					"\nbusy %v, panics %v, leaked %s, frozen %s", res.Busy, res.Panics,
					res.Leaked, res.Frozen,
				)
			}
			if problem != "" {
				t.Fatalf("seed %d plan %v: %s\n%s", seed, plan, problem, res.Trace)
			}
		}
		if hashes[0] != hashes[1] {
			t.Errorf("seed %d plan %v: two traces", seed, plan)
		}
	}
}

// locker has the common methods of the locks.
type locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// leftovers returns the nodes below path without an owner at rest.
func leftovers(res *trace.Result, path string) []string {
	var out []string
	for _, n := range res.Nodes {
		if strings.HasPrefix(n.Path, path+"/") {
			out = append(out, n.Path)
		}
	}
	return out
}

func TestLocksInManyWorlds(t *testing.T) {
	kinds := map[string]func(c *sim.Client) locker{
		"Lock": func(c *sim.Client) locker {
			return recipes.NewLock(c.Conn(), "/l", recipes.SessionTimeout(10*time.Second))
		},
		"HerdLock": func(c *sim.Client) locker { return recipes.NewHerdLock(c.Conn(), "/l/node") },
	}
	for name, newLock := range kinds {
		t.Run(name, func(t *testing.T) {
			inWorlds(t, func(w *sim.World) func(*trace.Result) string {
				var mu sync.Mutex
				var problem string
				var last int64
				script := func(ctx context.Context, c *sim.Client) {
					l := newLock(c)
					token := l.(interface{ Token() int64 }).Token
					for range 3 {
						wait, cancel := context.WithTimeout(ctx, 30*time.Second)
						err := l.Lock(wait)
						cancel()
						if err != nil {
							c.Note("lock: %v", err)
							continue
						}
						mu.Lock()
						if token() != 0 && token() <= last {
							problem = fmt.Sprintf("%s has token %d after %d", c.Name(),
								token(), last)
						}
						last = token()
						mu.Unlock()
						c.Note("locked")
						if err := c.Sleep(ctx, 50*time.Millisecond); err != nil {
							return
						}
						if err := l.Unlock(ctx); err != nil {
							c.Note("unlock: %v", err)
						}
						c.Note("unlocked")
					}
				}
				for _, name := range []string{"a", "b", "c"} {
					w.Clients = append(w.Clients, sim.Actor{Name: name, Run: script})
				}
				return func(res *trace.Result) string {
					if left := leftovers(res, "/l"); len(left) > 0 {
						problem += fmt.Sprint("left over: ", left)
					}
					return problem
				}
			})
		})
	}
}

func TestQueueInManyWorlds(t *testing.T) {
	inWorlds(t, func(w *sim.World) func(*trace.Result) string {
		var mu sync.Mutex
		seen := map[string]int{}
		var problem string
		offers := func(ctx context.Context, c *sim.Client) {
			q := recipes.NewQueue(c.Conn(), "/q")
			for i := range 4 {
				if err := q.Offer(ctx, fmt.Append(nil, c.Name(), i)); err != nil {
					mu.Lock()
					problem = err.Error()
					mu.Unlock()
				}
			}
		}
		takes := func(ctx context.Context, c *sim.Client) {
			q := recipes.NewQueue(c.Conn(), "/q")
			for range 4 {
				data, err := q.Take(ctx)
				mu.Lock()
				seen[string(data)]++
				if err != nil {
					problem = err.Error()
				}
				mu.Unlock()
			}
		}
		both := func(ctx context.Context, c *sim.Client) { offers(ctx, c); takes(ctx, c) }
		w.Clients = []sim.Actor{
			{Name: "a", Run: offers}, {Name: "b", Run: takes}, {Name: "c", Run: both},
		}
		return func(res *trace.Result) string {
			if len(seen) != 8 {
				problem += fmt.Sprint("taken: ", seen)
			}
			for _, dir := range []string{"items", "dedup", "claims"} {
				if left := leftovers(res, "/q/"+dir); len(left) > 0 {
					problem += fmt.Sprint("left over: ", left)
				}
			}
			return problem
		}
	})
}
