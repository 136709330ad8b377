package hunt_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// exists is a workload whose only requests look whether / exists, five in all, and that
// goes on with then after the first that fails.
func exists(
	then func(), judge func(e scenario.Evidence) linearizability.Verdict,
) scenario.Workload {
	return scenario.Workload{
		Name: "exists", Impl: "own", Freeze: 100 * time.Millisecond,
		Play: func(p *scenario.Player, _ scenario.Script) {
			for range 5 {
				err := p.Call("exists", "", func(context.Context) error {
					_, _, err := p.Conn().Exists("/")
					return err
				})
				if err != nil && then != nil {
					then()
				}
			}
		},
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Report{Verdicts: []linearizability.Verdict{judge(e)}}, nil
		},
	}
}

func fine(scenario.Evidence) linearizability.Verdict {
	return linearizability.Verdict{Property: scenario.InvariantProperty, Status: linearizability.OK}
}

// spinning is a script that spins when a request has failed, until the test ends.
func spinning(t *testing.T) (spin func(), times *atomic.Int64) {
	var end atomic.Bool
	t.Cleanup(func() { end.Store(true) })
	times = new(atomic.Int64)
	return func() {
		times.Add(1)
		for !end.Load() {
		}
	}, times
}

// mostAtOnce is more than may be under way together when one has frozen.
const mostAtOnce = 64

// TestSweepStopsAtWhatFroze, with the finding, instead of leaving one spinning goroutine
// for each fault.
func TestSweepStopsAtWhatFroze(t *testing.T) {
	spin, times := spinning(t)
	sweep, err := hunt.RunSweep(t.Context(), scenario.Scenario{
		Workload: exists(spin, fine), Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
	}, hunt.Part{}, nil)
	check.OK(t, err)
	if sweep.Violated != 1 || sweep.Violations[0].Property != "frozen" ||
		sweep.Points >= sweep.Total || times.Load() > mostAtOnce {
		t.Errorf("%d violations after %d of %d points, %d spin; want one that froze, and a stop",
			sweep.Violated, sweep.Points, sweep.Total, times.Load())
		return
	}
	check.Contains(t, sweep.Violations[0].First.Summary(),
		"the run froze: code spins, so that no virtual time can pass")
}

// TestSweepGoesOnAfterAMutex that is held while its holder waits: no code spins.
func TestSweepGoesOnAfterAMutex(t *testing.T) {
	var guard sync.Mutex
	w := exists(nil, fine)
	w.Freeze = 40 * time.Millisecond
	w.Play = func(p *scenario.Player, _ scenario.Script) {
		if _, _, err := p.Conn().Exists("/"); err != nil {
			guard.Lock()
			go func() { guard.Lock() }()
			time.Sleep(time.Hour)
		}
	}
	sweep, err := hunt.RunSweep(t.Context(), scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1,
	}, hunt.Part{}, nil)
	check.OK(t, err)
	first := sweep.FirstUndecided
	if sweep.Violated != 0 || sweep.Undecided < 2 || sweep.Points != sweep.Total ||
		!strings.Contains(first.Summary(), "a goroutine waits for the mutex guard") {
		t.Errorf("%d violations, %d undecided of %d points of %d: %v; want all points, and no "+
			"violation", sweep.Violated, sweep.Undecided, sweep.Points, sweep.Total, first)
	}
}

// TestMinimizeStopsWhenATryFreezes, and returns the smallest scenario so far.
func TestMinimizeStopsWhenATryFreezes(t *testing.T) {
	spin, times := spinning(t)
	var tries atomic.Int64
	w := exists(func() {
		if tries.Add(1) > 1 {
			spin()
		}
	}, func(e scenario.Evidence) linearizability.Verdict {
		v := fine(e)
		if len(e.Plan) == 2 {
			v.Status = linearizability.Violated
		}
		return v
	})
	w.Play = playedByOne(w.Play)
	o := run(t,
		scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
			Plan: plan(t, "delay 1s client=b request=1", "drop-reply client=a request=1")})
	small, _, err := hunt.Minimize(t.Context(), o)
	if err != nil || small.Property() != scenario.InvariantProperty || times.Load() == 0 ||
		times.Load() > mostAtOnce {
		t.Errorf("got %v, error %v, %d spin; want what was found before the first of few", small,
			err, times.Load())
	}
}

// playedByOne lets client a only play.
func playedByOne(
	play func(p *scenario.Player, s scenario.Script),
) func(p *scenario.Player, s scenario.Script) {
	return func(p *scenario.Player, s scenario.Script) {
		if p.Name() == "a" {
			play(p, s)
		}
	}
}

// TestMinimizeNeverLengthensAFault, though it looks for faults of round lengths, too.
func TestMinimizeNeverLengthensAFault(t *testing.T) {
	const least = 10 * time.Millisecond
	w := exists(nil, func(e scenario.Evidence) linearizability.Verdict {
		v := fine(e)
		if len(e.Plan) == 1 && e.Plan[0].Kind == fault.Stall && e.Plan[0].For >= least {
			v.Status = linearizability.Violated
		}
		return v
	})
	o := run(t, scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 7,
		Plan: plan(t, "stall 10ms client=a request=2"),
	})
	small, _, err := hunt.Minimize(t.Context(), o)
	check.OK(t, err)
	if got := small.Scenario.Plan; len(got) != 1 || got[0].For != least {
		t.Errorf("got %v; want a stall of %v", got, least)
	}
}

// TestUseOfTheRealNetworkEndsAtOnce: no other scenario is played.
func TestUseOfTheRealNetworkEndsAtOnce(t *testing.T) {
	if sim.Overlaid {
		t.Skip("then it is not the real network")
	}
	var runs atomic.Int64
	w := exists(nil, fine)
	w.Play = func(p *scenario.Player, _ scenario.Script) {
		runs.Add(1)
		p.Call("exists", "", func(context.Context) error {
			return zk.ErrNoServer // of a client on the real network
		})
	}
	s := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1}
	_, swept := hunt.RunSweep(t.Context(), s, hunt.Part{}, nil)
	_, hunted := hunt.Hunt{Workload: w, Script: s.Script, Seed: 1, Runs: 10}.Run(t.Context())
	const want = "nothing can be decided: client a: exists found no server, "
	for _, err := range []error{swept, hunted} {
		if !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("error %v", err)
		}
	}
	if runs.Load() != 2 {
		t.Errorf("%d scenarios; want one each", runs.Load())
	}
}

// TestAFrozenRunWithoutFaultsEndsTheHunt: a deadlock is its finding, and a mutex whose holder rests
// is told at once. No other scenario is played.
func TestAFrozenRunWithoutFaultsEndsTheHunt(t *testing.T) {
	if sim.Overlaid {
		t.Skip("then time passes")
	}
	for _, deadlock := range []bool{true, false} {
		var runs atomic.Int64
		w := exists(nil, fine)
		w.Play = func(*scenario.Player, scenario.Script) {
			runs.Add(1)
			mu := new(sync.Mutex)
			if mu.Lock(); deadlock {
				mu.Lock()
			}
			go func() { mu.Lock() }()
			time.Sleep(time.Hour)
		}
		found, err := hunt.Hunt{Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1},
			Seed: 1, Runs: 10}.Run(t.Context())
		switch {
		case deadlock && (err != nil || found.First() == nil ||
			found.First().Property() != "frozen"):
			t.Errorf("found %v, error %v; want that it froze", found, err)
		case !deadlock && !strings.HasPrefix(fmt.Sprint(err),
			"nothing can be decided: the run froze: at frozen_test.go:"):
			t.Errorf("error %v", err)
		}
		check.Equal(t, runs.Load(), 1, "scenarios")
	}
}
