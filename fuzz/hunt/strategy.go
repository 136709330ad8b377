package hunt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/internal/mix"
	"github.com/zksim/zksim/fuzz/scenario"
)

// A Strategy decides which scenarios a Hunt tries. What it proposes must depend
// on its Terrain and on what it has learnt, and on nothing else.
type Strategy interface {
	// Propose returns the next scenario to try, or false if there is none left.
	Propose() (s scenario.Scenario, more bool)
	// Learn hears of every scenario of the hunt, in a fixed order, some time after
	// it was proposed. own says that this strategy has proposed it; fresh counts the
	// behaviours (see [Behaviours]) that no scenario of the hunt had shown before.
	Learn(o *scenario.Outcome, own bool, fresh int)
}

// Terrain is what a Strategy is given to begin with.
type Terrain struct {
	// Base is the scenario without faults, whose workload, script and seed the
	// hunt was given. Its requests and notifications are the coordinates of faults.
	Base *scenario.Outcome
	// Seed decides everything.
	Seed uint64
	// MaxFaults bounds the length of a plan.
	MaxFaults int
	// from is where a strategy begins that goes through a list in the same order
	// whatever the seed: 0 but for a hunt that is resumed.
	from uint64
}

// A StrategyInfo describes one of the built-in strategies.
type StrategyInfo struct {
	Name, About string
	// Share is how many of the scenarios of the default portfolio are this
	// strategy's, compared with the shares of the others.
	Share int
	// New makes one.
	New func(Terrain) Strategy
}

// strategies are the built-in ones, in the order in which they take turns.
var strategies = []StrategyInfo{
	{"sweep", "every single fault, at every protocol step", 2, newSingles},
	{"pairs", "every two faults, or a sample of them", 2, newPairs},
	{"random", "random plans; each draws first which kinds of faults there are", 3, newRandomPlans},
	{"priorities", "random priorities of the messages (PCT), with and without faults", 1, newPriorities},
	{"orders", "all orders of the messages of a tiny script that differ in the first 60 decisions, 20,000 waiting at most", 1, newOrders},
	{"coverage", "mutations of what has shown new behaviour", 2, newCoverage},
}

// Strategies lists the built-in strategies.
func Strategies() []StrategyInfo { return slices.Clone(strategies) }

// FindStrategies returns the built-in strategies of the names, each of which must be
// given once; all if there are none.
func FindStrategies(names []string) ([]StrategyInfo, error) {
	if len(names) == 0 {
		return Strategies(), nil
	}
	var found []StrategyInfo
	for _, name := range names {
		i := slices.IndexFunc(strategies, func(s StrategyInfo) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown strategy %q; expected %s", name, strings.Join(strategyNames(), ", "))
		}
		if slices.ContainsFunc(found, func(s StrategyInfo) bool { return s.Name == name }) {
			return nil, fmt.Errorf("strategy %q is given twice", name)
		}
		found = append(found, strategies[i])
	}
	return found, nil
}

func strategyNames() []string {
	names := make([]string, len(strategies))
	for i, s := range strategies {
		names[i] = s.Name
	}
	return names
}

// dice are random numbers for one strategy; which must not share them with
// another, or what one proposes would depend on the other.
func dice(seed uint64, strategy string) *rand.Rand {
	var words []uint64
	for _, c := range strategy {
		words = append(words, uint64(c))
	}
	return rand.New(rand.NewPCG(seed, mix.Hash(words...)))
}

// deaf is embedded by strategies that do not learn.
type deaf struct{}

func (deaf) Learn(*scenario.Outcome, bool, int) {}

// plain is the scenario of the hunt, with another plan.
func (t Terrain) plain(plan ...fault.Fault) scenario.Scenario {
	s := t.Base.Scenario
	s.Plan = plan
	return s
}

// scattered goes through 0 to n-1, each once, far apart from one to the next:
// neighbours in a list of fault points mostly do the same.
type scattered struct{ n, from, next, step int }

func newScattered(n int, from uint64) *scattered {
	step := max(1, n*382/1000) // near the golden section
	for gcd(step, n) > 1 {
		step++
	}
	return &scattered{n: n, from: int(from % uint64(max(1, n))), step: step}
}

func (s *scattered) draw() (int, bool) {
	if s.next >= s.n {
		return 0, false
	}
	i := int((int64(s.from) + int64(s.next)*int64(s.step)) % int64(s.n))
	s.next++
	return i, true
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
