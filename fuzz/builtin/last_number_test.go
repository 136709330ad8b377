package builtin_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// TestRecipesSurviveTheLastNumber: when the numbers of a directory are used up, or nearly so, no
// lock has two owners. When another client deletes the empty directory, all clients go on.
func TestRecipesSurviveTheLastNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, impl, dir string }{
		{"lock", "recipes.Lock", "/lock"},
		{"lock", "recipes.WriteLock", "/lock"},
		{"rwlock", "recipes.RWLock", "/rwlock"},
		{"semaphore", "recipes.Semaphore", "/semaphore/leases"},
		{"semaphore", "recipes.Semaphore", "/semaphore/lock"},
		{"election", "recipes.LeaderLatch", "/election"},
		{"double-barrier", "recipes.DoubleBarrier", "/barrier"},
		{"threshold-barrier", "recipes.ThresholdBarrier", "/barrier"},
	} {
		for _, next := range []int32{math.MaxInt32 - 3, math.MaxInt32} {
			t.Run(fmt.Sprint(c.impl, c.dir, next), func(t *testing.T) {
				if found := huntAtLastNumber(
					t, fuzztest.Builtin(t, c.name, c.impl), c.dir, next,
				); found != nil {
					t.Error(found.Story())
				}
			})
		}
	}
}

// TestTheLastNumberMakesTwoOwners is the control: a lock that orders by number alone is right as
// long as there are numbers.
func TestTheLastNumberMakesTwoOwners(t *testing.T) {
	t.Parallel()
	for next, want := range map[int32]string{0: "", math.MaxInt32: linearizability.Safety} {
		found, got := huntAtLastNumber(t, gallery.Bases()["lock"], "/lock", next), ""
		if found != nil {
			got = found.Property()
		}
		check.Equal(t, got, want, "from %d on", next)
	}
}

// huntAtLastNumber plays a workload with faults; the next number in its directory is next.
func huntAtLastNumber(t *testing.T, w scenario.Workload, dir string, next int32) *scenario.Outcome {
	t.Helper()
	w.Nodes, w.Next = map[string]string{dir: ""}, map[string]int32{dir: next}
	w.Play = swept(w.Play, dir)
	found, err := hunt.Hunt{
		Workload: w, Script: scenario.Script{Clients: 4, Rounds: 2}, Seed: 1,
		Runs: testrun.Pick(6, 12),
	}.Run(t.Context())
	check.OK(t, err)
	return found.First()
}

// swept is play for all clients but one. That client follows the advice of ErrNumbersUsedUp: it
// deletes the directory when it is empty.
func swept(
	play func(*scenario.Player, scenario.Script), dir string,
) func(*scenario.Player, scenario.Script) {
	return func(p *scenario.Player, s scenario.Script) {
		s.Clients--
		if p.Index() < s.Clients {
			play(p, s)
			return
		}
		seconds := 30
		for _, slow := range []string{"rest", "hold of minutes"} { // as in package scenario
			if p.OfRun(slow, 8) == 0 {
				seconds += 150
			}
		}
		for range seconds {
			if !p.Pause(time.Second) {
				return
			}
			if err := p.Conn().Delete(dir, -1); err != nil && !errors.Is(err, zk.ErrNotEmpty) &&
				!errors.Is(err, zk.ErrNoNode) {
				p.Pause(time.Second)
			}
		}
	}
}
