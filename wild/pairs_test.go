package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
)

// TestPairsOfRunsAreEqual plays scenarios of each library twice, with up to three faults at points
// of a run without faults. With -full these are 300 scenarios, 100 where a run is long, and 20 of
// curator-go, of which each run leaves up to 5,000 goroutines behind. Their traces must be equal.
// The clients of go-kit's registry get no further, and would play on for minutes; they get less
// time.
func TestPairsOfRunsAreEqual(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("the libraries connect by themselves; run it by: zksim go test -C wild ./...")
	}
	slow := []string{"comcast", "dapr", "go-kit", "libkv", "topicctl", "vault"}
	for _, w := range libraries() {
		if w.Impl == "gost" || w.Impl == "confd" {
			continue // each run freezes, by its bug
		}
		if w.Impl == "go-zk-lock" {
			continue // a process has one connection, and a fault may let it have two
		}
		t.Run(w.Impl, func(t *testing.T) {
			t.Parallel()
			pairs := testrun.Pick(5, 300)
			switch {
			case w.Impl == "curator-go":
				pairs = testrun.Pick(2, 20)
			case slices.Contains(slow, w.Impl):
				pairs = testrun.Pick(2, 100)
			}
			if w.Impl == "go-kit" {
				w.Length = func(scenario.Script) time.Duration { return -110 * time.Second }
			}
			s := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1},
				Seed: 1}
			points := hunt.FaultPoints(play(t, s))
			differing := 0
			for seed := range uint64(pairs) {
				s.Seed, s.Plan = seed, drawn(seed, points)
				if a, b := play(t, s), play(t, s); a.Result.Trace.Hash() != b.Result.Trace.Hash() {
					differing++
					t.Errorf("two runs of seed %d with %v differ", seed, s.Plan)
				}
			}
			t.Logf("%d pairs of runs, %d differ", pairs, differing)
		})
	}
}

// drawn is a plan of up to three of some faults.
func drawn(seed uint64, points []fault.Fault) (plan []fault.Fault) {
	draw := rand.New(rand.NewPCG(seed, 0))
	for range draw.IntN(4) {
		plan = append(plan, points[draw.IntN(len(points))])
	}
	return plan
}

func play(t *testing.T, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := saved.Play(s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
