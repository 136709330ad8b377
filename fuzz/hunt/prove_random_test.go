package hunt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// Steps of random scripts, and steps that show counts of children.
var (
	drawnSteps = []string{"get /x", "put /x", "get /dir", "put /dir", "list /dir", "create /dir/m",
		"delete /dir/m", "number /dir/n-", "delete /dir/n-0000000000", "create /dir/n-0000000000",
		"number /dir/n-", "ephemeral /dir/m",
		"watch /dir/m", "await /x", "hasty /dir/m", "pause", "lock /x", "unlock /x", "recall /x"}
	countingSteps = []string{"stat /dir", "store /dir", "putter /dir"}
	drawnFaults   = []string{"", "", "drop-request client=a request=%d", "cut client=a request=%d",
		"drop-reply client=b request=%d", "expire client=a request=%d", "crash client=b request=%d",
		"expire client=b at=1µs", "cut client=a event=1", "stall 3s client=a request=%d",
		"respawn 1s client=b request=%d", "restart 1s client=a request=%d"}
)

// drawTiny draws a scenario of two clients.
func drawTiny(t *testing.T, draw *rand.Rand, steps []string) (s scenario.Scenario, text string,
) {
	t.Helper()
	scripts := make([]string, 2)
	for i := range scripts {
		var script []string
		for range 1 + draw.IntN(2+i) {
			script = append(script, steps[draw.IntN(len(steps))])
		}
		scripts[i] = strings.Join(script, ", ")
	}
	plan := drawnFaults[draw.IntN(len(drawnFaults))]
	if strings.Contains(plan, "%d") {
		plan = fmt.Sprintf(plan, 1+draw.IntN(2))
	}
	return tinyWith(t, plan, scripts...), fmt.Sprintf("%q, plan %q", scripts, plan)
}

// TestRandomProofsShowAllThatEveryRunShows, of one server and of two, and with hidden counts of
// children. What clients see is the same in a proof that does not try all orders of calls, as those
// with a fault do not. A proof that holds all things of different clients to commute shows less.
func TestRandomProofsShowAllThatEveryRunShows(t *testing.T) {
	t.Parallel()
	careless := func(a, b trace.Thing) bool { return a.Client != b.Client }
	compared, noticed := 0, 0
	for seed := range uint64(testrun.Pick(32, 100)) {
		draw := rand.New(rand.NewPCG(seed, 0))
		hides := draw.IntN(2) == 0
		steps := drawnSteps
		if !hides {
			steps = append(steps[:len(steps):len(steps)], countingSteps...)
		}
		s, text := drawTiny(t, draw, steps)
		s.Script.Servers = 1 + draw.IntN(4)/3
		p := newProver(s)
		p.Bounds.HideCounts, p.Counts, p.Bounds.Runs = hides, !hides, testrun.Pick(1000, 5000)
		p.plan(s.Plan)
		p.trees[0].all = p.trees[0].all && draw.IntN(2) == 0
		got := everyClassOf(t, p, shown)
		if !p.Complete || p.Classes == 0 {
			continue // it takes too long, or its fault does not strike
		}
		want, runs, _ := everyRun(t, s, testrun.Pick(100, 1000), shown)
		if not := missing(want, got); len(not) > 0 {
			t.Fatalf("%s, %d servers: %d classes of %d runs show %d of %d; missing:\n%s", text,
				s.Script.Servers, p.Classes, runs, len(got), len(want), not[0])
		}
		wrong, _ := everyClass(t, s, shown, func(w *walk) { w.commute, w.noLoss = careless, true })
		if compared++; len(missing(got, wrong)) > 0 {
			noticed++
		}
	}
	t.Logf("%d compared, %d notice the mistake", compared, noticed)
	check.Equal(t, compared >= testrun.Pick(20, 60) && noticed >= 5, true, "%d compared, %d notice the mistake", compared,
		noticed)
}
