package hunt

import (
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
	more     int       // scenarios after the last of them
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
	next      int        // in the rotation
	traces    map[uint64]bool
	shown     map[uint64]bool // behaviours
}

// defaultLegRuns is the number of scenarios of a leg of a long hunt.
const defaultLegRuns = 10_000

// searcher is a strategy in a hunt.
type searcher struct {
	strategy
	name string
}

// hasSkipped reports whether the strategy has skipped scenarios that it could try.
func (s searcher) hasSkipped() bool {
	skips, ok := s.strategy.(interface{ leftOut() bool })
	return ok && skips.leftOut()
}

// trial is a scenario that was proposed.
type trial struct {
	scenario scenario.Scenario
	by       string
}

func newHuntRun(hunt Hunt, chosen []Strategy) *huntRun {
	h := &huntRun{
		Hunt: hunt, found: newFound(hunt.Workload), enough: max(1, hunt.Findings), met: bugs{},
		known: bugs{}, chosen: chosen, kept: map[uint64]bool{},
	}
	h.legRuns = hunt.legLength()
	for _, o := range hunt.Known {
		h.known.add(o)
	}
	h.Seed = hunt.resumed()
	return h
}

// ended reports whether the hunt is over before a leg.
func (h *huntRun) ended(leg int) bool {
	return h.over() || h.found.Exhausted || h.Runs > 0 && leg*h.legRuns >= h.Runs
}

func (h *huntRun) late() bool { return !h.deadline.IsZero() && !time.Now().Before(h.deadline) }

// begin starts the strategies of a leg, which know its run without faults.
func (h *huntRun) begin(number int, base *scenario.Outcome) {
	h.leg = leg{
		number: number, before: *h.found, traces: map[uint64]bool{}, shown: map[uint64]bool{},
	}
	t := strategyInput{base: base, seed: base.Scenario.Seed, maxFaults: h.MaxFaults}
	switch {
	case h.NoFaults:
		t.maxFaults = noFaults
	case t.maxFaults == 0:
		t.maxFaults = defaultMaxFaults
	}
	if len(h.Corpus) > 0 || number > 0 {
		t.from = t.seed
	}
	most := 0
	for _, s := range h.chosen {
		h.searchers = append(h.searchers, searcher{s.start(t), s.Name})
		most = max(most, s.Share)
	}
	for turn := range most {
		for i, s := range h.searchers {
			if h.chosen[i].Share > turn {
				h.rotation = append(h.rotation, s)
			}
		}
	}
}

// runLeg plays the corpus in the first leg, takes in the run without faults, and then plays one
// generation after another.
func (h *huntRun) runLeg(ctx context.Context, number int) error {
	base := scenario.Scenario{Workload: h.Workload, Script: h.Script, Seed: h.Seed, On: h.On}
	if number > 0 {
		base.Seed = mix.Hash(h.Seed, uint64(number))
	}
	first := playOne(base, h.CheckDeterminism)
	if first.err == nil {
		first.err = checkCalm(first.outcome)
	}
	if first.err != nil {
		return first.err
	}
	h.begin(number, first.outcome)
	if number == 0 {
		if err := h.replay(ctx); err != nil || h.hasEnough() {
			return err
		}
	}
	if err := h.take(trial{base, noStrategy}, first); err != nil {
		return err
	}
	if h.For > 0 && h.deadline.IsZero() {
		h.deadline = time.Now().Add(h.For)
	}
	for !h.over() && h.left() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		trials := h.propose()
		if len(trials) == 0 {
			h.found.Exhausted = !slices.ContainsFunc(h.searchers, searcher.hasSkipped)
			return nil
		}
		if err := h.play(ctx, trials); err != nil {
			return err
		}
	}
	return nil
}

// over reports whether enough was found, or the time is over.
func (h *huntRun) over() bool { return h.foundAll() || h.late() }

// foundAll reports whether enough was found, and more was tried after that.
func (h *huntRun) foundAll() bool { return h.hasEnough() && h.more >= min(h.More, h.left()) }

func (h *huntRun) hasEnough() bool { return h.ending >= h.enough }

// left is the number of scenarios that the leg has left.
func (h *huntRun) left() int {
	all := h.legRuns
	if h.Runs > 0 {
		all = min(all, h.Runs-h.number*h.legRuns)
	}
	return max(0, all-(h.found.Runs-h.before.Runs))
}

// propose collects a generation; it is shorter if little is left to try.
func (h *huntRun) propose() []trial {
	n := min(generation, h.left())
	var trials []trial
	for idle := 0; len(trials) < n && idle < len(h.rotation); {
		s := h.rotation[h.next%len(h.rotation)]
		h.next++
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
func (h *huntRun) play(ctx context.Context, trials []trial) error {
	results := make([]played, len(trials))
	parallel(ctx, len(trials), workers(h.Workers, h.Script, h.On), func(i int) (goOn bool) {
		r := playOne(trials[i].scenario, h.CheckDeterminism)
		results[i] = r
		return r.err == nil &&
			(h.enough > 1 || h.More > 0 || !h.isViolation(r.outcome) || !h.ends(r.outcome))
	})
	for i, r := range results {
		switch {
		case r.err != nil:
			return r.err
		case r.outcome == nil:
			return ctx.Err() // interrupted before it was played
		}
		if err := h.take(trials[i], r); err != nil || h.foundAll() {
			return err
		}
	}
	return nil
}

// take learns from one outcome.
func (h *huntRun) take(t trial, r played) error {
	f, o := h.found, r.outcome
	h.diverged(r)
	if h.hasEnough() {
		h.takeMore(t, o)
		return nil
	}
	runs := h.count(t, r)
	fresh, news := h.note(o)
	for _, s := range h.searchers {
		s.learn(o, s.name == t.by, fresh)
	}
	if h.violates(o) && (froze(o) || !h.known.knows(o)) {
		if !h.met.knows(o) {
			h.met.add(o)
			f.Findings = append(f.Findings, Finding{o, t.by, runs, bugOf(o)})
			if h.ends(o) {
				h.ending++
			}
			if froze(o) { // another run may leave more behind
				h.More = 0
			}
		}
	}
	if h.Progress != nil {
		h.Progress(f)
	}
	if news && h.Keep != nil && t.by != fromCorpus {
		return h.Keep(o)
	}
	return nil
}

// takeMore learns from an outcome after the last finding that counts.
func (h *huntRun) takeMore(t trial, o *scenario.Outcome) {
	h.more++
	for _, s := range h.searchers {
		s.learn(o, s.name == t.by, 0)
	}
	if h.violates(o) && !h.known.knows(o) && !h.met.knows(o) {
		h.met.add(o)
		h.found.Others = append(h.found.Others,
			Finding{o, t.by, h.proposed() + h.more, bugOf(o)})
	}
	if froze(o) {
		h.More = 0
	}
}

// count adds a run to the numbers of the hunt. It returns the number of the run among those that
// strategies propose in all legs, or among those of the corpus.
func (h *huntRun) count(t trial, r played) int {
	f, o := h.found, r.outcome
	for _, goal := range o.Reached {
		f.Reached[goal]++
	}
	for method, called := range o.Optional {
		f.Optional[method] += 0
		if called {
			f.Optional[method]++
		}
	}
	f.seen.add(basisOf(o))
	if o.Status() == linearizability.Unknown {
		if f.Undecided++; f.FirstUndecided == nil {
			f.FirstUndecided = o
		}
	}
	if t.by == fromCorpus {
		if len(o.Result.Missed) > 0 {
			f.Idle = append(f.Idle, f.Replayed)
		}
		f.Replayed++
		return f.Replayed
	}
	f.Runs++
	return h.proposed()
}

// proposed is the number of the last run among those that strategies propose in all legs.
func (h *huntRun) proposed() int {
	return h.number*h.legRuns + h.found.Runs - h.before.Runs
}

// diverged notes that the two runs of a scenario differ.
func (h *huntRun) diverged(r played) {
	if r.diverges == nil {
		return
	}
	d := *r.diverges
	if len(h.found.Divergences) >= mostKept {
		d.First, d.Second = nil, nil
	}
	h.found.Divergences = append(h.found.Divergences, d)
}

// mostKept is the number of divergences of a hunt that have their outcomes.
const mostKept = 5

// violates reports whether an outcome is a violation that counts, unless it is known.
func (h *huntRun) violates(o *scenario.Outcome) bool {
	switch {
	case o.Status() != linearizability.Violated:
		return false
	case froze(o):
		return true
	}
	return (h.Counts == nil || h.Counts(o)) &&
		(len(h.Properties) == 0 || slices.Contains(h.Properties, o.Property()))
}

// isViolation reports whether an outcome is a violation that counts, even without a look at the
// places in the code. Several goroutines call it at the same time.
func (h *huntRun) isViolation(o *scenario.Outcome) bool {
	return h.violates(o) && (froze(o) || h.known[shape(o)] == nil)
}

// ends reports whether a violation may end the hunt: any may if the caller chooses the violations
// that count.
func (h *huntRun) ends(o *scenario.Outcome) bool {
	return h.Counts != nil || len(h.Properties) > 0 || !Minor(o.Property())
}

// note counts the behaviours of an outcome that are new in the leg, and reports whether one is new
// in the hunt.
func (h *huntRun) note(o *scenario.Outcome) (fresh int, news bool) {
	h.traces[traceOf(o)] = true
	for _, b := range behaviours(o) {
		if !h.shown[b] {
			h.shown[b] = true
			fresh++
		}
		news = news || !h.kept[b]
		h.kept[b] = true
	}
	h.found.Traces = h.before.Traces + len(h.traces)
	h.found.Behaviours = h.before.Behaviours + len(h.shown)
	return fresh, news
}
