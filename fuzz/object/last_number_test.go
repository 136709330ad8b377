package object_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// TestRecipesSurviveTheLastNumber: where a directory's numbers are used up, or soon
// will be, nobody owns what is another's, and when the directory is deleted that is
// empty everybody gets on.
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
					t, builtin(t, c.name, c.impl), c.dir, next,
				); found != nil {
					t.Error(found.Story())
				}
			})
		}
	}
}

// TestTheLastNumberMakesTwoOwners is the control: a lock that orders by number
// alone, and is right as long as there are numbers.
func TestTheLastNumberMakesTwoOwners(t *testing.T) {
	t.Parallel()
	for next, want := range map[int32]string{0: "", math.MaxInt32: linearizability.Safety} {
		found, got := huntAtLastNumber(t, gallery.Bases()["lock"], "/lock", next), ""
		if found != nil {
			got = found.Property()
		}
		if got != want {
			t.Errorf("from %d on: violates %q, want %q", next, got, want)
		}
	}
}

// huntAtLastNumber plays a workload whose directory goes on at next, with faults.
func huntAtLastNumber(t *testing.T, w scenario.Workload, dir string, next int32) *scenario.Outcome {
	t.Helper()
	w.Nodes, w.Next = map[string]string{dir: ""}, map[string]int32{dir: next}
	w.Play = swept(w.Play, dir)
	found, err := hunt.Hunt{
		Workload: w, Script: scenario.Script{Clients: 4, Rounds: 2}, Seed: 1,
		Runs: testrun.Pick(6, 12),
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found.First()
}

// swept is play with one client less, who does what ErrNumbersUsedUp advises: it
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
		for range 30 {
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
