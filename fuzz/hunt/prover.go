package hunt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// lengthsOf are the lengths of the faults of a kind that a proof puts at every request and
// notification.
func (b Bounds) lengthsOf(kind fault.KindInfo) (lengths []time.Duration) {
	if kind.Lasts {
		return b.Lasting
	}
	return []time.Duration{0}
}

// prover is a proof under way.
type prover struct {
	*Proof
	visit   func(*scenario.Outcome)     // of each class
	commute func(a, b trace.Thing) bool // whether the order of two things makes no difference

	workers int                            // for tests; 0: all processors
	played  int                            // runs, also those that another process counts
	units   int                            // plans with the most faults
	trees   []*tree                        // to be tried, the first of them next
	next    func(trees []*tree) (some int) // how many of the first may be tried at the same time
	planned map[string]bool
}

func newProver(s scenario.Scenario) *prover {
	s.Plan, s.Schedule = nil, sim.Schedule{}
	return &prover{
		Proof:   newProof(s),
		planned: map[string]bool{}, next: withFewest,
		visit: func(*scenario.Outcome) {}, commute: trace.Thing.Commutes,
	}
}

func newProof(s scenario.Scenario) *Proof {
	return &Proof{Scenario: s, Counts: true, views: map[uint64]bool{}, unclear: math.MaxInt}
}

// withFewest is the number of the first trees that have as many faults as the first one. As plans
// are added at the end, there is none with fewer.
func withFewest(trees []*tree) (some int) {
	for some < len(trees) && len(trees[some].plan) == len(trees[0].plan) {
		some++
	}
	return some
}

// A tree is the runs under one plan.
type tree struct {
	*walk
	plan     []fault.Fault
	counts   bool           // in this process
	requests map[string]int // the most of each client in any run
	events   map[string]int
	instants map[time.Duration]bool // of its turns, but for the first one of a run
}

// plan adds the tree of a plan, unless it is for another process.
func (p *prover) plan(plan []fault.Fault) {
	name := planName(plan)
	if p.planned[name] {
		return
	}
	p.planned[name] = true
	unit := 0
	if len(plan) == p.Bounds.Faults {
		unit = p.units
		p.units++
	}
	counts := p.Bounds.Part.Has(unit)
	if counts {
		p.Plans++
	}
	if counts || len(plan) < p.Bounds.Faults {
		p.trees = append(p.trees, p.newTree(plan, counts))
	}
}

func (p *prover) newTree(plan []fault.Fault, counts bool) *tree {
	script := p.Scenario.Script
	w := &walk{commute: p.commute, all: script.Servers > 1 || len(plan) == 0,
		shared: script.Goroutines > 1, own: hasOwnJudge(p.Scenario.Workload),
		ordered: slices.Contains(p.Scenario.Workload.Properties, linearizability.Order)}
	w.walkers = []*walker{{walk: w}}
	return &tree{walk: w, plan: plan, counts: counts,
		requests: map[string]int{}, events: map[string]int{}, instants: map[time.Duration]bool{}}
}

// hasOwnJudge reports whether the judge of a workload is the user's. One of ours has a list of its
// properties.
func hasOwnJudge(w scenario.Workload) bool {
	return w.Properties == nil || slices.ContainsFunc(w.Properties, func(property string) bool {
		return !slices.Contains(linearizability.Properties(), property)
	})
}

// planName is a text that is equal for plans with the same faults. Those at one place act in their
// order: a request that is delayed can lose its reply, and one that has lost it comes no more.
func planName(plan []fault.Fault) string {
	plan = slices.Clone(plan)
	slices.SortStableFunc(plan, func(f, g fault.Fault) int {
		return cmp.Or(cmp.Compare(f.Client, g.Client), cmp.Compare(f.Request, g.Request),
			cmp.Compare(f.Event, g.Event), cmp.Compare(f.At, g.At))
	})
	return strings.Join(planLines(plan), "; ")
}

func (p *prover) run(ctx context.Context) (err error) {
	began, saved := time.Now(), time.Now()
	for err = ctx.Err(); len(p.trees) > 0 && err == nil && p.Violation == nil; {
		if p.Bounds.Runs > 0 && p.played >= p.Bounds.Runs ||
			p.Bounds.For > 0 && time.Since(began) >= p.Bounds.For {
			break
		}
		if err = p.playSome(ctx); err == nil && time.Since(saved) >= time.Minute {
			saved, err = time.Now(), p.save()
		}
		if p.Bounds.Progress != nil {
			p.Bounds.Progress(p.Proof)
		}
	}
	p.Complete = len(p.trees) == 0 && p.Violation == nil && err == nil
	if p.Violation == nil && (err == nil || err == ctx.Err()) {
		err = errors.Join(err, p.save())
	}
	return err
}

// addFault adds the plans with one fault more than the plan of a tree. A run under such a plan is
// one of the tree up to the last fault, so each place that it can strike is a place in a run of the
// tree.
func (p *prover) addFault(t *tree) {
	if len(t.plan) >= p.Bounds.Faults {
		return
	}
	clients := p.Scenario.Script.ClientNames()
	for client := range t.requests {
		clients = append(clients, client) // perhaps of a new process
	}
	slices.Sort(clients)
	for _, client := range slices.Compact(clients) {
		for _, kind := range fault.KindsFor(1) {
			add := func(f fault.Fault) {
				f.Kind, f.Client = kind.Kind, client
				for _, f.For = range p.Bounds.lengthsOf(kind) {
					p.plan(append(slices.Clone(t.plan), f))
				}
			}
			if kind.Kind == fault.Expire {
				add(fault.Fault{At: sim.Instant})
				for _, at := range slices.Sorted(maps.Keys(t.instants)) {
					add(fault.Fault{At: at})
				}
			}
			for n := range t.requests[client] {
				add(fault.Fault{Request: n + 1})
			}
			for n := range t.events[client] {
				if kind.OnEvent {
					add(fault.Fault{Event: n + 1})
				}
			}
		}
	}
}

// atATime is the number of trees at the same time, and that of the walkers of each. It is fixed, so
// that the order does not depend on the number of cores, and that in a tree not on other trees.
const atATime = 8

// round returns the walkers that are to play a run, of some trees. In a new round that is each
// walker of these.
func (p *prover) round() (walkers []*walker, of []*tree) {
	find := func() {
		for _, t := range p.trees {
			for _, w := range t.walkers {
				if w.due {
					walkers, of = append(walkers, w), append(of, t)
				}
			}
		}
	}
	if find(); len(walkers) > 0 {
		return walkers, of // it was interrupted
	}
	n := min(atATime, p.next(p.trees))
	for _, t := range p.trees[:n] {
		t.share(atATime)
		for _, w := range t.walkers {
			w.due = true
		}
	}
	find()
	return walkers, of
}

// playSome plays a round of runs, and takes in the runs in order.
func (p *prover) playSome(ctx context.Context) error {
	walkers, trees := p.round()
	n := len(walkers)
	if p.Bounds.Runs > 0 {
		n = min(n, p.Bounds.Runs-p.played)
	}
	runs := make([]*played, n)
	parallel(ctx, n, p.workers, func(i int) (goOn bool) {
		runs[i] = p.play(trees[i], walkers[i])
		return true
	})
	for i, w := range walkers[:n] {
		if runs[i] == nil {
			return ctx.Err()
		}
		if runs[i].err != nil {
			return runs[i].err
		}
		if runs[i].counts {
			if p.Bounds.Part != (Part{}) { // the others may not have noticed
				return fmt.Errorf("%s: the code looks at counts of children, which are hidden: play "+
					"the proof in one process", p.Scenario)
			}
			p.played++
			p.showCounts()
			return nil
		}
		t := trees[i]
		p.take(t, w, runs[i].outcome)
		if o := runs[i].inTime; o != nil {
			p.judge(t, o)
		}
		if p.Violation != nil {
			return nil
		}
		if len(t.walkers) == 0 {
			p.calm = p.calm || len(t.plan) == 0 && p.unclear > 0
			p.trees = slices.DeleteFunc(p.trees, func(other *tree) bool { return other == t })
			if t.counts {
				p.Tried++
			}
			p.addFault(t)
		}
	}
	p.estimate()
	return nil
}

func (p *prover) estimate() {
	share := float64(p.Tried)
	for _, t := range p.trees[:min(atATime, len(p.trees))] {
		if t.counts {
			share += t.done()
		}
	}
	if share > 0 {
		p.Estimate = float64(p.Runs) * float64(p.Plans) / share
	}
}

// play plays the next run of a walker. There is no outcome if it is redundant.
func (p *prover) play(t *tree, w *walker) *played {
	r, s := new(played), p.Scenario
	s.Plan, s.Schedule = t.plan, w.schedule()
	w.begin()
	r.outcome, r.err = saved.PlayBy(s, w.choose, !p.Counts)
	switch {
	case r.err != nil:
	case w.diverged != nil:
		r.err = w.diverged
	case w.long && (r.outcome == nil || r.outcome.Property() == "" || w.pauses()):
		r.err = fmt.Errorf("a run has more than %d steps, which is too long for a proof", mostEvents)
		if w.pauses() {
			r.err = fmt.Errorf("%w: its scripts pause and try again, which takes no time in a proof; a "+
				"hunt tells whether they get further", r.err)
		}
	}
	if r.err == nil && r.outcome != nil {
		r.err = checkCalm(r.outcome)
	}
	if r.err != nil {
		r.err = fmt.Errorf("%s, plan %v: %w", s, s.Plan, r.err)
		return r
	}
	if w.end(); r.outcome == nil {
		return r
	}
	w.view = viewOf(r.outcome)
	if !p.Counts && (len(t.plan) == 0 || w.known == 0 || r.outcome.Status() != linearizability.OK) {
		p.playWithCounts(r, w.view)
	}
	if w.known == 0 && r.err == nil && !r.counts && r.outcome.Property() == "" {
		p.playInTime(r, t.plan)
	}
	return r
}

// playInTime plays a plan as a hunt does, in which messages and pauses take their time. It does so
// twice: of code that draws at random, a proof would try some of the runs.
func (p *prover) playInTime(r *played, plan []fault.Fault) {
	s := p.Scenario
	s.Plan, s.Schedule = plan, sim.Schedule{}
	inTime := playOne(s, true)
	switch {
	case inTime.err != nil:
		r.err = inTime.err
	case inTime.diverges != nil:
		r.err = errors.New(inTime.diverges.String())
	default:
		r.inTime, r.err = inTime.outcome, checkCalm(inTime.outcome)
	}
}

// playWithCounts plays a run again, in which nothing is hidden.
func (p *prover) playWithCounts(r *played, view uint64) {
	hidden := r.outcome
	if r.outcome, r.err = saved.Play(hidden.Scenario); r.err == nil {
		r.counts = viewOf(r.outcome) != view || r.outcome.Property() != hidden.Property()
	}
}

// showCounts begins anew, with true counts.
func (p *prover) showCounts() {
	anew := newProof(p.Scenario)
	anew.Bounds = p.Bounds
	*p.Proof = *anew
	p.units, p.trees, p.planned = 0, nil, map[string]bool{}
	p.plan(nil)
}

// take takes in the run of a walker.
func (p *prover) take(t *tree, w *walker, o *scenario.Outcome) {
	p.played++
	w.due = false
	t.walk.take(w)
	redundant := o == nil || len(o.Result.Missed) > 0 && o.Status() == linearizability.OK
	if t.counts {
		p.count(w, o, redundant)
	}
	if redundant {
		return
	}
	for _, r := range o.Result.Requests {
		t.requests[r.Client] = max(t.requests[r.Client], r.Number)
	}
	for _, e := range o.Result.Events {
		t.events[e.Client] = max(t.events[e.Client], e.Number)
	}
	for _, at := range w.instants[1:] {
		t.instants[at+sim.Instant] = true // what has no turn has come by then
	}
	p.judge(t, o)
}

// judge takes in the verdict on a run.
func (p *prover) judge(t *tree, o *scenario.Outcome) {
	switch o.Status() {
	case linearizability.Violated:
		p.Violation, p.fewest = o, p.triedFewer(o)
	case linearizability.Unknown:
		p.unclear = min(p.unclear, len(t.plan))
		if !t.counts {
			return
		}
		if p.Undecided++; p.FirstUndecided == nil {
			p.FirstUndecided = o
		}
	}
}

// count counts a run.
func (p *prover) count(w *walker, o *scenario.Outcome, redundant bool) {
	if p.Runs++; redundant {
		p.Redundant++
		return
	}
	p.Classes++
	p.visit(o)
	p.seen.add(basisOf(o))
	if len(p.views) < MostViews {
		p.views[w.view] = true
	}
	p.Views = len(p.views)
}

// triedFewer reports whether all runs with fewer faults than one were tried and could be judged.
func (p *prover) triedFewer(o *scenario.Outcome) bool {
	faults := len(o.Scenario.Plan)
	return p.unclear >= faults && len(o.Result.Missed) == 0 &&
		!slices.ContainsFunc(p.trees, func(t *tree) bool { return len(t.plan) < faults })
}
