package hunt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/spelling"
)

// Hunt describes a search for violations. Strategies propose scenarios, which run on all cores. The
// findings, and the number of scenarios before each, depend on the description alone, and not on
// the machine, unless For ends the hunt.
//
// Each scenario has three phases. In the first, faults strike and the scripts work. Every fault
// ends by itself. In the second, all faults have ended, and every script must end: here liveness is
// judged. In the third, the World goes on without faults and scripts for longer than a session
// lives. Then nothing may be left over.
type Hunt struct {
	Workload scenario.Workload
	Script   scenario.Script
	// On is the running ensemble to play on; nil for Worlds. There only the strategies sweep, pairs
	// and random hunt, and two runs of the same Seed differ.
	On *scenario.Ensemble
	// Seed decides everything, together with the Corpus; 0 is a seed like any other.
	Seed uint64
	// Runs is the number of scenarios to try, and For the real time to spend. The first that is
	// reached ends the hunt; 0 is no bound, but one of them is needed. The hunt also ends when
	// the strategies have nothing left to propose. A generation of 32 scenarios is played to
	// its end. The Corpus does not count.
	//
	// After each 10,000 scenarios the strategies begin anew, with another seed. These legs are the
	// units of a Part; the first of them has the number Unit. Legs are shorter if otherwise there
	// were fewer than parts. If the parts divide several hunts, Work is the number of scenarios of
	// all of them, and the Unit of each is the number of Legs before it.
	Runs int
	For  time.Duration
	Part Part
	Unit int
	Work int
	// MaxFaults bounds the length of a plan; 0 means 4, and [MostFaults] is the most.
	MaxFaults int
	// NoFaults makes a hunt by seeds and orders of messages alone: no plan has a fault. Only the
	// scenarios of the Corpus keep theirs.
	NoFaults bool
	// Strategies are names out of [Strategies]; none means all of them, each with its share.
	Strategies []string
	// Corpus holds scenarios to play first, in their order, for instance those that an earlier hunt
	// has kept. The first leg plays all of them, whatever Runs and For are. The proposals of the
	// strategies depend on the Corpus as well as on the Seed, so that a resumed hunt tries other
	// scenarios. If a hunt adds nothing to its corpus, the next one with the same Seed repeats it.
	Corpus []scenario.Scenario
	// Properties are the names of the properties that count; none means all. Only the first
	// property that a run violates counts; see [scenario.Outcome.Property].
	Properties []string
	// Counts reports whether a violation counts; nil means that all do. Several goroutines call it
	// at the same time. It must always give the same answer for an outcome. A run with code that
	// spins without end always counts: it slows down all other runs.
	Counts func(*scenario.Outcome) bool
	// Known are violations that do not count. Violations that are [Alike] to one of them do not
	// count either.
	Known []*scenario.Outcome
	// Findings is the number of different findings after which the hunt ends; 0 means one. Without
	// Properties and Counts, findings that are [Minor] do not end it.
	Findings int
	// More is the number of scenarios to play after the finding that ends the hunt, within Runs and
	// For: a lesser violation may have hidden a worse one. It changes nothing but [Found.Others].
	More int
	// CheckDeterminism runs every scenario twice and compares the traces.
	CheckDeterminism bool
	// Workers is the number of scenarios that run at a time. 0 means GOMAXPROCS, or on an ensemble,
	// where they mostly wait, as many as the servers have connections for, 16 at most. It changes
	// no finding.
	Workers int
	// Progress, if not nil, is called after each scenario. It must not change its argument.
	Progress func(*Found)
	// Keep, if not nil, is called with each scenario that has shown new behaviour. An error
	// ends the hunt.
	Keep func(*scenario.Outcome) error

	legRuns int // 0 means 10,000
}

// MostFaults is the greatest MaxFaults that a Hunt takes.
const MostFaults = 100

// MoreAfter is a number of More scenarios for a hunt of so many: a tenth, or some if only the time
// bounds the hunt.
func MoreAfter(runs int) int {
	if runs == 0 {
		return 100
	}
	return runs / 10
}

// RunsOnEnsemble is a number of Runs that an ensemble plays within minutes.
const RunsOnEnsemble = 32

// Found is the result of a Hunt.
type Found struct {
	// Runs counts the scenarios that the strategies proposed, up to the last finding, and
	// Replayed those of the corpus. Undecided counts those of both with an unknown verdict.
	Runs, Replayed, Undecided int
	// Idle are the numbers in the Corpus, from 0, of scenarios with a fault that matches nothing.
	Idle []int
	// FirstUndecided is the first undecided outcome, nil if there is none.
	FirstUndecided *scenario.Outcome
	// Traces counts the different orders of requests and faults. Behaviours counts the different
	// behaviours of the runs: which fault struck which operation, the ephemeral nodes of the
	// session then, and how the call went on and ended. Both are sums over the legs of the hunt.
	Traces, Behaviours int
	// Divergences are the scenarios with two runs that differ.
	Divergences []Divergence
	// Findings are the violations in the order in which they were found, but with those that are
	// [Minor] last. Violations that are [Alike] count as one.
	Findings []Finding
	// Others are violations of the More scenarios, unlike the Findings and each other.
	Others []Finding
	// Reached counts the scenarios in which each goal was reached.
	Reached map[string]int
	// Optional counts the scenarios in which each optional method of the object was called.
	Optional map[string]int
	// Exhausted says that the strategies have tried every scenario that they can propose.
	Exhausted bool

	workload scenario.Workload
	seen     basis // see CheckJudged
}

func newFound(w scenario.Workload) *Found {
	return &Found{Reached: map[string]int{}, Optional: map[string]int{}, workload: w}
}

// A Finding is a violation that a Hunt has found. [Minimize] makes it small.
type Finding struct {
	*scenario.Outcome
	// Strategy is the name of the strategy that proposed it, "corpus" if it was part of the corpus,
	// or "no faults" for the run without faults that begins a hunt.
	Strategy string
	// Runs is the number of scenarios up to this one: those of the corpus if it was part of that,
	// otherwise those that strategies proposed.
	Runs int
	// Bug is a text that is equal for violations that are [Alike].
	Bug string
}

// Line is the finding in one line.
func (f Finding) Line() string {
	return fmt.Sprintf("%s: %s (scenario %d, by %s)", f.Property(), f.Summary(), f.Runs, f.Strategy)
}

// First is the first of Findings, nil if there is none.
func (f *Found) First() *scenario.Outcome {
	if len(f.Findings) == 0 {
		return nil
	}
	return f.Findings[0].Outcome
}

// Run hunts until enough was found, a bound is reached or ctx is done. In the last case it returns
// the result so far, and the error of the context.
func (h Hunt) Run(ctx context.Context) (*Found, error) {
	if err := h.checkBounds(); err != nil {
		return nil, err
	}
	chosen, err := h.strategies()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return newFound(h.Workload), err
	}
	p := newHuntRun(h, chosen)
	for leg := 0; err == nil && !p.ended(leg); leg++ {
		if h.Part.Has(h.Unit + leg) {
			err = p.runLeg(ctx, leg)
		}
	}
	if err != nil && ctx.Err() == nil && p.found.Runs+p.found.Replayed == 0 {
		return nil, err
	}
	sortBySeverity(p.found.Findings, func(f Finding) *scenario.Outcome { return f.Outcome })
	return p.found, err
}

// Legs is the number of legs of the hunt; 0 if only the time bounds it.
func (h Hunt) Legs() int { return (h.Runs + h.legLength() - 1) / h.legLength() }

// legLength is the number of scenarios of a leg.
func (h Hunt) legLength() int {
	length := cmp.Or(h.legRuns, defaultLegRuns)
	if h.Part.of > 0 && h.Runs > 0 {
		length = min(length, max(1, cmp.Or(h.Work, h.Runs)/h.Part.of))
	}
	return length
}

func (h Hunt) checkBounds() error {
	if work := cmp.Or(h.Work, h.Runs); h.Runs > 0 && work < h.Part.of {
		return fmt.Errorf("hunt: %d scenarios for %d parts; expected at least one for each",
			work, h.Part.of)
	}
	if h.Runs <= 0 && h.For <= 0 {
		return fmt.Errorf("hunt: a number of runs or a duration is needed")
	}
	if h.MaxFaults < 0 || h.MaxFaults > MostFaults {
		return fmt.Errorf("hunt: MaxFaults: %d; expected 0 to %d", h.MaxFaults, MostFaults)
	}
	may := h.Workload.MayViolate()
	for _, p := range h.Properties {
		if !slices.Contains(may, p) {
			return fmt.Errorf("hunt: property %q%s: no run of %s %s can violate it; expected one of %s",
				p, spelling.Meant(p, may), h.Workload.Name, h.Workload.Impl, strings.Join(may, ", "))
		}
	}
	return nil
}
