package hunt_test

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes/classic"
)

func TestPartText(t *testing.T) {
	for _, text := range []string{"", "1/1", "2/3", "10000/10000"} {
		var p hunt.Part
		check.OK(t, p.UnmarshalText([]byte(text)))
		check.Equal(t, p.String(), text)
	}
	for _, text := range []string{"2", "0/3", "4/3", "-1/3", "1/0", "1/10001", "a/b", "1/2/3",
		"1 /2"} {
		var p hunt.Part
		want := fmt.Sprintf("part %q; expected one such as 2/3, the second of three", text)
		check.Equal(t, fmt.Sprint(p.UnmarshalText([]byte(text))), want)
	}
}

// played is a workload that counts its runs, by what the clients have called and when.
type played struct {
	mu   sync.Mutex
	runs map[string]int
}

func (p *played) watch(w scenario.Workload) scenario.Workload {
	p.runs = map[string]int{}
	judge := w.Judge
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.runs[fmt.Sprint(e.History.EndTime, e.History.Ops)]++
		return judge(e)
	}
	return w
}

// queue is a wrong queue with a short script.
func queue(p *played) scenario.Scenario {
	w := object.Queue(func(env object.Env) object.Queuer {
		return classic.NewApacheQueue(env.Conn, env.Path, zk.WorldACL(zk.PermAll))
	}).Named("parts")
	return scenario.Scenario{
		Workload: p.watch(w), Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
	}
}

// TestPartsOfAHuntAreTheHunt: their scenarios together are those of the whole hunt, and so are
// their findings. Three parts share four legs; 50 parts have a short leg each.
func TestPartsOfAHuntAreTheHunt(t *testing.T) {
	arePartsOf(t, 3, 60, 60)
	arePartsOf(t, 50, 4, 0)
}

// arePartsOf compares parts with a whole hunt in legs of a length. The parts get a length, too,
// unless it is 0.
func arePartsOf(t *testing.T, parts, leg, given int) {
	t.Helper()
	run := func(part string, leg int) (*hunt.Found, map[string]int) {
		var p played
		s := queue(&p)
		h := hunt.Hunt{Workload: s.Workload, Script: s.Script, Seed: 1, Runs: 200, Findings: 1000}
		check.OK(t, h.Part.UnmarshalText([]byte(part)))
		found, err := h.WithLegs(leg).Run(t.Context())
		check.OK(t, err)
		return found, p.runs
	}
	whole, runs := run("", leg)
	check.Equal(t, whole.Runs, 200, "scenarios")
	var sum hunt.Found
	bugs, together := map[string]bool{}, map[string]int{}
	for i := 1; i <= parts; i++ {
		found, runs := run(fmt.Sprintf("%d/%d", i, parts), given)
		check.Equal(t, found.Runs > 0, true, "part %d has work", i)
		sum.Runs += found.Runs
		sum.Traces += found.Traces
		sum.Behaviours += found.Behaviours
		for _, f := range found.Findings {
			bugs[f.Summary()] = true
		}
		for run, times := range runs {
			together[run] += times
		}
	}
	check.Equal(t, sum.Runs, whole.Runs, "scenarios of all parts")
	check.Equal(t, sum.Traces, whole.Traces, "traces")
	check.Equal(t, sum.Behaviours, whole.Behaviours, "behaviours")
	if !maps.Equal(together, runs) {
		t.Errorf("the parts have played %d scenarios, the whole hunt %d", len(together), len(runs))
	}
	for _, f := range whole.Findings {
		if !bugs[f.Summary()] {
			t.Errorf("no part has found %s", f.Summary())
		}
	}
	check.Equal(t, len(whole.Findings) > 0, true, "something was found")
}

// TestPartsOfASweepAreTheSweep.
func TestPartsOfASweepAreTheSweep(t *testing.T) {
	run := func(part string) *hunt.Sweep {
		var p played
		var of hunt.Part
		check.OK(t, of.UnmarshalText([]byte(part)))
		sweep, err := hunt.RunSweep(t.Context(), queue(&p), of, nil)
		check.OK(t, err)
		return sweep
	}
	whole := run("")
	var points, survived int
	faults, first := map[string]int{}, map[string]int{}
	for i := 1; i <= 3; i++ {
		sweep := run(fmt.Sprintf("%d/3", i))
		check.Equal(t, sweep.Total, whole.Total, "points of all parts")
		points += sweep.Points
		survived += sweep.Survived
		for _, v := range sweep.Violations {
			faults[v.Bug] += len(v.Faults)
			if before, found := first[v.Bug]; !found || v.Number < before {
				first[v.Bug] = v.Number
			}
		}
	}
	check.Equal(t, points, whole.Points, "points tried")
	check.Equal(t, survived, whole.Survived, "points survived")
	check.Equal(t, len(faults), len(whole.Violations), "bugs")
	for _, v := range whole.Violations {
		check.Equal(t, faults[v.Bug], len(v.Faults), "points of %s", v.Bug)
		check.Equal(t, first[v.Bug], v.Number, "first point of %s", v.Bug)
	}
	check.Equal(t, len(faults) > 0, true, "something was found")
}
