package hunt

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/mix"
)

// TestOpenNumbersOfAScriptVary: a share of the scenarios has more goroutines or servers, and no
// other one has faults of ensembles. Numbers that a script names stay.
func TestOpenNumbersOfAScriptVary(t *testing.T) {
	open := calmLocks(t)
	fixed := *open
	fixed.Scenario.Script.Servers, fixed.Scenario.Script.Goroutines = 1, 1
	for _, base := range []*scenario.Outcome{open, &fixed} {
		input := strategyInput{base: base, seed: 1, maxFaults: 4}
		random, ordered := newRandomPlans(input), newPriorities(input)
		native, err := NewInputs(base)
		check.OK(t, err)
		for name, next := range map[string]func(n uint64) scenario.Scenario{
			"random":     func(uint64) scenario.Scenario { s, _ := random.propose(); return s },
			"priorities": func(uint64) scenario.Scenario { s, _ := ordered.propose(); return s },
			"native": func(n uint64) scenario.Scenario {
				var data []byte
				for i := range uint64(48) {
					data = append(data, byte(mix.Hash(n, i)))
				}
				return native.Scenario(data)
			},
		} {
			goroutines, servers, faults := 0, 0, 0
			for n := range uint64(800) {
				s := next(n)
				if s.Script.Goroutines > 1 {
					goroutines++
				}
				if s.Script.Servers == 3 {
					servers++
				}
				for _, f := range s.Plan {
					if f.Kind == fault.Lag || f.Kind == fault.Isolate {
						check.Equal(t, s.Script.Servers, 3, name)
						faults++
					}
				}
			}
			if base == &fixed {
				check.Equal(t, goroutines+servers+faults, 0, name)
				continue
			}
			check.Equal(t, 150 < goroutines && goroutines < 250, true, name, goroutines)
			check.Equal(t, 60 < servers && servers < 140, true, name, servers)
			check.Equal(t, faults > 0 || name == "priorities", true, name, faults)
		}
	}
}

// TestPairsOnAnEnsembleHaveNoPauses, which no real client has.
func TestPairsOnAnEnsembleHaveNoPauses(t *testing.T) {
	for _, ensemble := range []*scenario.Ensemble{nil, new(scenario.Ensemble)} {
		base := *calmLocks(t)
		base.Scenario.On = ensemble
		p, pauses := newPairs(strategyInput{base: &base, seed: 1, maxFaults: 4}), 0
		for range 200 {
			s, _ := p.propose()
			for _, f := range s.Plan {
				if f.Kind == fault.Pause {
					pauses++
				}
			}
		}
		check.Equal(t, pauses > 0, ensemble == nil, "%d pauses", pauses)
	}
}
