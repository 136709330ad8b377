package hunt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/mix"
	"github.com/zksim/zksim/internal/spelling"
)

// A Strategy is one of the ways in which a [Hunt] chooses its scenarios.
type Strategy struct {
	Name, About string
	// Share is the number of scenarios that the strategy proposes in each round of a hunt by
	// all strategies.
	Share int

	start func(strategyInput) strategy
	// plansOnly says that the strategy varies nothing but plans. On a running ensemble nobody
	// orders the messages, so a hunt has only such strategies there.
	plansOnly bool
	// faultless says that the strategy varies more than plans, so that it can do without faults.
	faultless bool
}

// strategies take turns in this order.
var strategies = []Strategy{
	{"sweep", "every single fault, at every protocol step", 2, newSingles, true, false},
	{"pairs", "every two faults, or a sample of them", 2, newPairs, true, false},
	{"random", "random plans; each draws first which kinds of faults there are", 3, newRandomPlans,
		true, true},
	{"priorities", "random priorities of the messages (PCT), with and without faults", 1,
		newPriorities, false, true},
	{"orders",
		"all orders of the messages of a tiny script that differ in the first 60 decisions, " +
			"20,000 waiting at most", 1, newOrders, false, true},
	{"coverage", "mutations of what has shown new behaviour", 2, newCoverage, false, false},
}

// Strategies lists all strategies.
func Strategies() []Strategy { return slices.Clone(strategies) }

// CheckStrategies returns an error if one of the names is not the name of a strategy, or is given
// twice.
func CheckStrategies(names []string) error {
	_, err := findStrategies(names)
	return err
}

// findStrategies returns the strategies of the names; all if there are none.
func findStrategies(names []string) ([]Strategy, error) {
	if len(names) == 0 {
		return strategies, nil
	}
	var found []Strategy
	for _, name := range names {
		has := func(s Strategy) bool { return s.Name == name }
		i := slices.IndexFunc(strategies, has)
		if i < 0 {
			return nil, fmt.Errorf("unknown strategy %q%s; expected one of %s", name,
				spelling.Meant(name, knownStrategies()), strings.Join(knownStrategies(), ", "))
		}
		if slices.ContainsFunc(found, has) {
			return nil, fmt.Errorf("strategy %q is given twice", name)
		}
		found = append(found, strategies[i])
	}
	return found, nil
}

// strategies are those that the hunt uses.
func (h Hunt) strategies() ([]Strategy, error) {
	chosen, err := findStrategies(h.Strategies)
	if err != nil {
		return nil, err
	}
	var found []Strategy
	for _, s := range chosen {
		switch {
		case h.fits(s):
			found = append(found, s)
		case len(h.Strategies) == 0:
		case h.NoFaults && !s.faultless:
			return nil, fmt.Errorf("strategy %q needs faults; expected one of %s for a hunt without them",
				s.Name, strings.Join(h.fitting(), ", "))
		default:
			return nil, fmt.Errorf("strategy %q orders messages; expected one of %s for an ensemble",
				s.Name, strings.Join(h.fitting(), ", "))
		}
	}
	return found, nil
}

// fits reports whether the hunt can use a strategy: on an ensemble nobody orders the messages.
func (h Hunt) fits(s Strategy) bool {
	return (h.On == nil || s.plansOnly) && (!h.NoFaults || s.faultless)
}

// fitting are the names of the strategies that the hunt can use.
func (h Hunt) fitting() []string {
	var names []string
	for _, s := range strategies {
		if h.fits(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

func knownStrategies() (list []string) {
	for _, s := range strategies {
		list = append(list, s.Name)
	}
	return list
}

// A strategy proposes scenarios. Its proposals depend only on its input and on the outcomes from
// which it has learnt.
type strategy interface {
	// propose returns the next scenario to try, or false if there is none left.
	propose() (s scenario.Scenario, more bool)
	// learn is called with the outcome of every scenario of the hunt, in a fixed order, some time
	// after the proposal. own says that this strategy has proposed it. fresh is the number of
	// behaviours that no scenario of the hunt had shown before.
	learn(o *scenario.Outcome, own bool, fresh int)
}

// strategyInput is the input of a strategy at its beginning.
type strategyInput struct {
	// base is the run without faults. Its requests and notifications are the coordinates of
	// faults.
	base *scenario.Outcome
	// seed decides everything.
	seed uint64
	// maxFaults bounds the length of a plan.
	maxFaults int
	// from is the first index for a strategy that goes through a list in a fixed order: 0, except
	// in a resumed hunt.
	from uint64
}

// dice are random numbers for one strategy. Strategies do not share them: otherwise the proposals
// of one would depend on those of another.
func dice(seed uint64, strategy string) *rand.Rand {
	var words []uint64
	for _, c := range strategy {
		words = append(words, uint64(c))
	}
	return rand.New(rand.NewPCG(seed, mix.Hash(words...)))
}

// noLearning is embedded by strategies that do not learn.
type noLearning struct{}

func (noLearning) learn(*scenario.Outcome, bool, int) {}

// plain is the hunt's scenario with another plan.
func (t strategyInput) plain(plan ...fault.Fault) scenario.Scenario {
	s := t.base.Scenario
	s.Plan = plan
	return s
}
