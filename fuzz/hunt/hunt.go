package hunt

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Hunt describes a search for violations. Strategies propose scenarios, which
// run on all cores; what is found, and after how many scenarios, depends on the
// description alone, and not on the machine, unless For ends the hunt.
//
// Each scenario has three phases. In the first, faults strike and the scripts
// work. Every fault ends by itself; once all have, the world is whole again, and the
// scripts must come to their end: that is where liveness is judged. Last, the World
// goes on for some sessions' time without faults and scripts, after which nothing
// may be left over.
type Hunt struct {
	Workload scenario.Workload
	Script   scenario.Script
	// Seed decides everything, together with the Corpus; 0 is a seed like any other.
	Seed uint64
	// Runs is how many scenarios to try; For is how long, in real time. The first
	// that is reached ends the hunt; 0 means no such bound, but one is needed. It
	// also ends when the strategies have nothing left to propose. What has been
	// proposed together, see Strategy, is played to its end. Neither bounds the Corpus.
	Runs int
	For  time.Duration
	// MaxFaults bounds the length of a plan; 0 means 4, and [MostFaults] is the most.
	MaxFaults int
	// Strategies are names out of [Strategies]; none means all of them, each with
	// its share.
	Strategies []string
	// Corpus are scenarios to play first, in their order, for instance those that an
	// earlier hunt has kept. All of them are played, whatever Runs and For say, which
	// begin to count after them. What the strategies propose then depends on the Corpus
	// as well as on the Seed, so that a hunt that is resumed goes on elsewhere; one that
	// adds nothing to its corpus will be repeated by the next with the same Seed.
	Corpus []scenario.Scenario
	// Counts says which violations count; nil is all. It is called by several goroutines
	// at the same time and must say the same of an outcome each time. A run that froze
	// always counts: what spins there would slow down all others.
	Counts func(*scenario.Outcome) bool
	// Findings is after how many different findings to stop; 0 means one.
	Findings int
	// CheckDeterminism runs every scenario twice and compares the traces.
	CheckDeterminism bool
	// Workers is how many scenarios run at a time; 0 means GOMAXPROCS. It makes no
	// difference to what is found.
	Workers int
	// Progress, if not nil, hears now and then how far the hunt is. It must not
	// change what it is given.
	Progress func(*Found)
	// Keep, if not nil, hears of each scenario that has shown new behaviour. An
	// error ends the hunt.
	Keep func(*scenario.Outcome) error
}

// MostFaults is the greatest bound of the length of a plan that a Hunt takes.
const MostFaults = 100

// Found is what a Hunt led to.
type Found struct {
	// Runs counts the scenarios tried, up to the last finding, but for those of the
	// corpus, which Replayed counts; Undecided those of both with a verdict left open.
	Runs, Replayed, Undecided int
	// Traces counts the orders of requests and faults that were seen, up to a
	// million, Behaviours what [Behaviours] tells.
	Traces, Behaviours int
	// Divergences are the scenarios whose two runs differed.
	Divergences []scenario.Scenario
	// Findings are the first violations, in the order in which they were found;
	// those that differ in nothing but names and numbers count as one.
	Findings []Finding
	// Reached counts the scenarios in which each goal was reached.
	Reached map[string]int
	// Exhausted says that the strategies have nothing more to propose, and have left
	// nothing out that they are about.
	Exhausted bool
}

// A Finding is a violation that a Hunt has found. [Minimize] makes it small.
type Finding struct {
	*scenario.Outcome
	// Strategy proposed it: "corpus" if it was there to begin with, "no faults" if it is
	// what the hunt began with.
	Strategy string
	// Runs is how many scenarios it took, this one included: of the corpus if it was
	// there, and else of those that strategies proposed.
	Runs int
}

// First is the first violation, nil if there is none.
func (f *Found) First() *scenario.Outcome {
	if len(f.Findings) == 0 {
		return nil
	}
	return f.Findings[0].Outcome
}

// generation is how many scenarios are proposed before what became of them is
// learnt. It is fixed, so that the number of workers makes no difference.
const generation = 32

// Run hunts until enough was found, a bound is reached or ctx is done; in the last
// case it returns what it has and the context's error.
func (h Hunt) Run(ctx context.Context) (*Found, error) {
	if err := h.checkBounds(); err != nil {
		return nil, err
	}
	infos, err := FindStrategies(h.Strategies)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return &Found{Reached: map[string]int{}}, err
	}
	h.Seed = h.resumed()
	base := scenario.Scenario{Workload: h.Workload, Script: h.Script, Seed: h.Seed}
	first := playOne(base, h.CheckDeterminism)
	if first.err != nil {
		return nil, first.err
	}
	p := newPursuit(h, infos, first.outcome)
	if err := p.replay(ctx); err != nil || len(p.found.Findings) >= p.enough {
		return p.found, err
	}
	if err := p.take(trial{base, noStrategy}, first); err != nil {
		return p.found, err
	}
	if h.For > 0 {
		p.deadline = time.Now().Add(h.For)
	}
	for !p.over() {
		if err := ctx.Err(); err != nil {
			return p.found, err
		}
		trials := p.propose()
		if len(trials) == 0 {
			p.found.Exhausted = !slices.ContainsFunc(p.searchers, searcher.leavesOut)
			break
		}
		if err := p.play(ctx, trials); err != nil {
			return p.found, err
		}
	}
	return p.found, nil
}

func (h Hunt) checkBounds() error {
	if h.Runs <= 0 && h.For <= 0 {
		return fmt.Errorf("hunt: a number of runs or a duration is needed")
	}
	if h.MaxFaults < 0 || h.MaxFaults > MostFaults {
		return fmt.Errorf("hunt: MaxFaults: %d; expected 0 to %d", h.MaxFaults, MostFaults)
	}
	return nil
}

// pursuit is a hunt under way.
type pursuit struct {
	Hunt
	found     *Found
	enough    int       // findings
	deadline  time.Time // zero: none
	searchers []searcher
	wheel     []searcher // who proposes next, each as often as its share says
	next      int
	traces    map[uint64]bool
	shown     map[uint64]bool
	stories   map[string]bool
}

// searcher is a strategy in a hunt.
type searcher struct {
	Strategy
	name string
}

// leavesOut reports whether the strategy has passed over some of what it is to try.
func (p searcher) leavesOut() bool {
	s, ok := p.Strategy.(interface{ leftOut() bool })
	return ok && s.leftOut()
}

// trial is a scenario that was proposed.
type trial struct {
	scenario scenario.Scenario
	by       string
}

func newPursuit(h Hunt, infos []StrategyInfo, base *scenario.Outcome) *pursuit {
	p := &pursuit{
		Hunt: h, found: &Found{Reached: map[string]int{}},
		traces: map[uint64]bool{}, shown: map[uint64]bool{}, stories: map[string]bool{},
	}
	p.enough = max(1, h.Findings)
	t := Terrain{Base: base, Seed: h.Seed, MaxFaults: h.MaxFaults}
	if t.MaxFaults == 0 {
		t.MaxFaults = defaultMaxFaults
	}
	if len(h.Corpus) > 0 {
		t.from = h.Seed
	}
	most := 0
	for _, info := range infos {
		s := searcher{info.New(t), info.Name}
		p.searchers = append(p.searchers, s)
		most = max(most, info.Share)
	}
	for turn := range most {
		for i, s := range p.searchers {
			if infos[i].Share > turn {
				p.wheel = append(p.wheel, s)
			}
		}
	}
	return p
}

// over reports whether enough was found or tried.
func (p *pursuit) over() bool {
	return len(p.found.Findings) >= p.enough || p.Runs > 0 && p.found.Runs >= p.Runs ||
		!p.deadline.IsZero() && !time.Now().Before(p.deadline)
}

// propose collects a generation; it is shorter if little is left to try.
func (p *pursuit) propose() []trial {
	n := generation
	if p.Runs > 0 {
		n = min(n, p.Runs-p.found.Runs)
	}
	var trials []trial
	for idle := 0; len(trials) < n && idle < len(p.wheel); {
		s := p.wheel[p.next%len(p.wheel)]
		p.next++
		idle++
		scenario, more := s.Propose()
		if !more {
			continue // it may have more once it has learnt
		}
		idle = 0
		trials = append(trials, trial{scenario, s.name})
	}
	return trials
}

// play runs trials at the same time and takes them in in their order, up to the
// one that ends the hunt.
func (p *pursuit) play(ctx context.Context, trials []trial) error {
	return playTogether(ctx, len(trials), p.Workers,
		func(i int) (played, bool) {
			r := playOne(trials[i].scenario, p.CheckDeterminism)
			return r, p.enough > 1 || r.err != nil || !p.violates(r.outcome)
		},
		func(i int, r played) (bool, error) {
			err := p.take(trials[i], r)
			return len(p.found.Findings) < p.enough, err
		})
}

// take learns from one outcome.
func (p *pursuit) take(t trial, r played) error {
	f, o := p.found, r.outcome
	n := &f.Runs
	if t.by == fromCorpus {
		n = &f.Replayed
	}
	*n++
	for _, goal := range o.Reached {
		f.Reached[goal]++
	}
	if o.Undecided() {
		f.Undecided++
	}
	if !r.same {
		f.Divergences = append(f.Divergences, t.scenario)
	}
	fresh := p.note(o)
	for _, s := range p.searchers {
		s.Learn(o, s.name == t.by, fresh)
	}
	if p.violates(o) {
		if story := blurred(o); !p.stories[story] {
			p.stories[story] = true
			f.Findings = append(f.Findings, Finding{o, t.by, *n})
		}
	}
	if p.Progress != nil {
		p.Progress(f)
	}
	if fresh > 0 && p.Keep != nil && t.by != fromCorpus {
		return p.Keep(o)
	}
	return nil
}

// violates reports whether an outcome is what the hunt is after.
func (p *pursuit) violates(o *scenario.Outcome) bool {
	return o.Status() == linearizability.Violated && (p.Counts == nil || o.Result.Frozen != "" || p.Counts(o))
}

// maxTraces keeps the memory that a hunt takes from growing for ever.
const maxTraces = 1_000_000

// note counts what is new in an outcome.
func (p *pursuit) note(o *scenario.Outcome) (fresh int) {
	if len(p.traces) < maxTraces {
		p.traces[traceOf(o)] = true
	}
	for _, b := range Behaviours(o) {
		if !p.shown[b] {
			p.shown[b] = true
			fresh++
		}
	}
	p.found.Traces, p.found.Behaviours = len(p.traces), len(p.shown)
	return fresh
}

// blurred is what is violated in words that do not depend on names, numbers and times.
func blurred(o *scenario.Outcome) string {
	return namesAndNumbers.ReplaceAllString(o.Property()+" "+o.Summary(), "#")
}

var namesAndNumbers = regexp.MustCompile(`\b[a-z]\b|\b[0-9][0-9.hmnsµ]*|[SG]?[0-9]+`)
