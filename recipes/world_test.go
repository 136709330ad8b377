package recipes_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// worlds is the number of worlds for each test of the parts that no workload of fuzz/object plays.
const worlds = 10

// randomPlan draws up to three faults for clients a, b, c. A process that dies would leave its
// nodes.
func randomPlan(seed uint64) []fault.Fault {
	rng := rand.New(rand.NewPCG(seed, 7))
	kinds := slices.DeleteFunc(fault.KindsFor(1),
		func(info fault.KindInfo) bool { return info.Kind.EndsProcess() })
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

// actors are clients a, b and c with the same script.
func actors(script func(ctx context.Context, c *sim.Client)) []sim.Actor {
	var list []sim.Actor
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, sim.Actor{Name: name, Run: script})
	}
	return list
}

// inWorlds runs scripts in many worlds, each twice, and gives both results to judge.
func inWorlds(t *testing.T, run func(w *sim.World) (judge func(*trace.Result) string)) {
	for seed := range uint64(worlds) {
		var hashes [2]string
		for i := range hashes {
			w := sim.World{Seed: seed, Plan: randomPlan(seed)}
			judge := run(&w)
			res, err := w.Run()
			check.OK(t, err)
			hashes[i] = res.Trace.Hash()
			problem := judge(res) + res.Leaked + res.Frozen
			if problem != "" || len(res.Panics)+len(res.Busy) > 0 {
				t.Fatalf("seed %d plan %v: %s, busy %v, panics %v\n%s", seed, w.Plan, problem,
					res.Busy, res.Panics, res.Trace)
			}
		}
		check.Equal(t, hashes[0], hashes[1], "seed %d: two traces", seed)
	}
}

// wantBadWorlds is the negative control: in one world at least something is wrong.
func wantBadWorlds(t *testing.T, run func(w *sim.World) (judge func(*trace.Result) string)) {
	t.Helper()
	for seed := range uint64(2 * worlds) {
		w := sim.World{Seed: seed, Plan: randomPlan(seed)}
		judge := run(&w)
		res, err := w.Run()
		check.OK(t, err)
		if judge(res) != "" {
			return
		}
	}
	t.Error("nothing is wrong in any world")
}

// leftovers returns the nodes below path at rest.
func leftovers(res *trace.Result, path string) []string {
	var out []string
	for _, n := range res.Nodes {
		if strings.HasPrefix(n.Path, path+"/") {
			out = append(out, n.Path)
		}
	}
	return out
}
