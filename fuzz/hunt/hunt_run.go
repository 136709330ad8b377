package hunt

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/mix"
	"github.com/zksim/zksim/linearizability"
)

// generation is the number of scenarios that are proposed before the strategies learn from them. It
// is fixed, so that the result does not depend on the number of workers.
const generation = 32

// huntRun is a hunt under way.
type huntRun struct {
	Hunt
	found    *Found
	enough   int       // findings that may end the hunt
	ending   int       // such findings so far
	deadline time.Time // zero: none
	met      bugs      // the findings
	known    bugs      // violations that do not count
	chosen   []Strategy
	kept     map[uint64]bool // behaviours in all legs

	leg // under way
}

// leg is a part of a hunt that knows nothing of the others.
type leg struct {
	number    int
	before    Found // the counts at its beginning
	searchers []searcher
	rotation  []searcher // in turns, each as often as its share says
	next      int        // in the wheel
	traces    map[uint64]bool
	shown     map[uint64]bool // behaviours
}

// defaultLegRuns is the number of scenarios of a leg.
const defaultLegRuns = 10_000

// searcher is a strategy in a hunt.
type searcher struct {
	strategy
	name string
}

// hasSkipped reports whether the strategy has skipped scenarios that it could try.
func (p searcher) hasSkipped() bool {
	s, ok := p.strategy.(interface{ leftOut() bool })
	return ok && s.leftOut()
}

// trial is a scenario that was proposed.
type trial struct {
	scenario scenario.Scenario
	by       string
}

func newHuntRun(h Hunt, chosen []Strategy) *huntRun {
	p := &huntRun{
		Hunt: h, found: newFound(h.Workload), enough: max(1, h.Findings), met: bugs{},
		known: bugs{}, chosen: chosen, kept: map[uint64]bool{},
	}
	p.legRuns = cmp.Or(h.legRuns, defaultLegRuns)
	for _, o := range h.Known {
		p.known.add(o)
	}
	p.Seed = h.resumed()
	return p
}

// ended reports whether the hunt is over before a leg.
func (p *huntRun) ended(leg int) bool {
	return p.ending >= p.enough || p.found.Exhausted || p.Runs > 0 && leg*p.legRuns >= p.Runs ||
		p.late()
}

func (p *huntRun) late() bool { return !p.deadline.IsZero() && !time.Now().Before(p.deadline) }

// begin starts the strategies of a leg, which know its run without faults.
func (p *huntRun) begin(number int, base *scenario.Outcome) {
	p.leg = leg{
		number: number, before: *p.found, traces: map[uint64]bool{}, shown: map[uint64]bool{},
	}
	t := strategyInput{base: base, seed: base.Scenario.Seed, maxFaults: p.MaxFaults}
	if t.maxFaults == 0 {
		t.maxFaults = defaultMaxFaults
	}
	if len(p.Corpus) > 0 || number > 0 {
		t.from = t.seed
	}
	most := 0
	for _, s := range p.chosen {
		p.searchers = append(p.searchers, searcher{s.start(t), s.Name})
		most = max(most, s.Share)
	}
	for turn := range most {
		for i, s := range p.searchers {
			if p.chosen[i].Share > turn {
				p.rotation = append(p.rotation, s)
			}
		}
	}
}

// runLeg plays the corpus in the first leg, takes in the run without faults, and then plays one
// generation after another.
func (p *huntRun) runLeg(ctx context.Context, number int) error {
	base := scenario.Scenario{Workload: p.Workload, Script: p.Script, Seed: p.Seed, On: p.On}
	if number > 0 {
		base.Seed = mix.Hash(p.Seed, uint64(number))
	}
	first := playOne(base, p.CheckDeterminism)
	if first.err == nil {
		first.err = checkNetwork(first.outcome)
	}
	if first.err != nil {
		return first.err
	}
	p.begin(number, first.outcome)
	if number == 0 {
		if err := p.replay(ctx); err != nil || p.ending >= p.enough {
			return err
		}
	}
	if err := p.take(trial{base, noStrategy}, first); err != nil {
		return err
	}
	if p.For > 0 && p.deadline.IsZero() {
		p.deadline = time.Now().Add(p.For)
	}
	for !p.over() {
		if err := ctx.Err(); err != nil {
			return err
		}
		trials := p.propose()
		if len(trials) == 0 {
			p.found.Exhausted = !slices.ContainsFunc(p.searchers, searcher.hasSkipped)
			return nil
		}
		if err := p.play(ctx, trials); err != nil {
			return err
		}
	}
	return nil
}

// over reports whether enough was found or tried.
func (p *huntRun) over() bool {
	return p.ending >= p.enough || p.left() == 0 || p.late()
}

// left is the number of scenarios that the leg has left.
func (p *huntRun) left() int {
	all := p.legRuns
	if p.Runs > 0 {
		all = min(all, p.Runs-p.number*p.legRuns)
	}
	return max(0, all-(p.found.Runs-p.before.Runs))
}

// propose collects a generation; it is shorter if little is left to try.
func (p *huntRun) propose() []trial {
	n := min(generation, p.left())
	var trials []trial
	for idle := 0; len(trials) < n && idle < len(p.rotation); {
		s := p.rotation[p.next%len(p.rotation)]
		p.next++
		idle++
		proposed, more := s.propose()
		if !more {
			continue // after learning it may propose more
		}
		idle = 0
		trials = append(trials, trial{proposed, s.name})
	}
	return trials
}

// play runs trials at the same time, and then takes in their outcomes in the order of the trials,
// up to a trial that ends the hunt, has failed, or was not played because ctx is done.
func (p *huntRun) play(ctx context.Context, trials []trial) error {
	results := make([]played, len(trials))
	parallel(ctx, len(trials), workers(p.Workers, p.Script, p.On), func(i int) (goOn bool) {
		r := playOne(trials[i].scenario, p.CheckDeterminism)
		results[i] = r
		return r.err == nil && (p.enough > 1 || !p.isViolation(r.outcome) || !p.ends(r.outcome))
	})
	for i, r := range results {
		switch {
		case r.err != nil:
			return r.err
		case r.outcome == nil:
			return ctx.Err() // interrupted before it was played
		}
		if err := p.take(trials[i], r); err != nil || p.ending >= p.enough {
			return err
		}
	}
	return nil
}

// take learns from one outcome.
func (p *huntRun) take(t trial, r played) error {
	f, o := p.found, r.outcome
	runs := p.count(t, r)
	fresh, news := p.note(o)
	for _, s := range p.searchers {
		s.learn(o, s.name == t.by, fresh)
	}
	if p.violates(o) && (froze(o) || !p.known.knows(o)) {
		if !p.met.knows(o) {
			p.met.add(o)
			f.Findings = append(f.Findings, Finding{o, t.by, runs, bugOf(o)})
			if p.ends(o) {
				p.ending++
			}
		}
	}
	if p.Progress != nil {
		p.Progress(f)
	}
	if news && p.Keep != nil && t.by != fromCorpus {
		return p.Keep(o)
	}
	return nil
}

// count adds a run to the numbers of the hunt. It returns the number of the run among those that
// strategies propose in all legs, or among those of the corpus.
func (p *huntRun) count(t trial, r played) int {
	f, o := p.found, r.outcome
	for _, goal := range o.Reached {
		f.Reached[goal]++
	}
	for method, called := range o.Optional {
		f.Optional[method] += 0
		if called {
			f.Optional[method]++
		}
	}
	f.judged = f.judged || judged(o)
	if o.Status() == linearizability.Unknown {
		if f.Undecided++; f.FirstUndecided == nil {
			f.FirstUndecided = o
		}
	}
	if r.diverges != nil {
		d := *r.diverges
		if len(f.Divergences) >= mostKept {
			d.First, d.Second = nil, nil
		}
		f.Divergences = append(f.Divergences, d)
	}
	if t.by == fromCorpus {
		f.Replayed++
		return f.Replayed
	}
	f.Runs++
	return p.number*p.legRuns + f.Runs - p.before.Runs
}

// mostKept is the number of divergences of a hunt that have their outcomes.
const mostKept = 5

// violates reports whether an outcome is a violation that counts, unless it is known.
func (p *huntRun) violates(o *scenario.Outcome) bool {
	switch {
	case o.Status() != linearizability.Violated:
		return false
	case froze(o):
		return true
	}
	return (p.Counts == nil || p.Counts(o)) &&
		(len(p.Properties) == 0 || slices.Contains(p.Properties, o.Property()))
}

// isViolation reports whether an outcome is a violation that counts, even without a look at the
// places in the code. Several goroutines call it at the same time.
func (p *huntRun) isViolation(o *scenario.Outcome) bool {
	return p.violates(o) && (froze(o) || p.known[shape(o)] == nil)
}

// ends reports whether a violation may end the hunt: any may if the caller chooses the violations
// that count.
func (p *huntRun) ends(o *scenario.Outcome) bool {
	return p.Counts != nil || len(p.Properties) > 0 || !Minor(o.Property())
}

// note counts the behaviours of an outcome that are new in the leg, and reports whether one is new
// in the hunt.
func (p *huntRun) note(o *scenario.Outcome) (fresh int, news bool) {
	p.traces[traceOf(o)] = true
	for _, b := range behaviours(o) {
		if !p.shown[b] {
			p.shown[b] = true
			fresh++
		}
		news = news || !p.kept[b]
		p.kept[b] = true
	}
	p.found.Traces = p.before.Traces + len(p.traces)
	p.found.Behaviours = p.before.Behaviours + len(p.shown)
	return fresh, news
}
