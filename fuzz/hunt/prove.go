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

// Bounds say how large the runs are that [Prove] plays, and how long it may take. Memory grows with
// the number of plans: the name of each is kept, and of those left what is to be tried under them.
// With two faults there are often a hundred times as many as with one.
type Bounds struct {
	// Faults is the greatest number of faults of a run. They are of the kinds that take no time,
	// and are not faults of servers.
	Faults int
	// Lasting are lengths of faults of the other kinds, which are tried only with these.
	Lasting []time.Duration
	// HideCounts promises that the code does not look at how many children a node has, and when one
	// came or went: at Cversion, NumChildren and Pzxid of a [zk.Stat] in replies that do not list
	// them. Then this is hidden, and a read of a node commutes with a create or delete below it.
	HideCounts bool
	// Runs is the greatest number of runs, and For the real time to spend; 0 is no bound.
	Runs int
	For  time.Duration
	// Part is the share of this process. Of the plans with the most faults it tries every N-th one.
	// Those with fewer faults tell which these are, so every process tries them; the first one
	// counts them.
	Part Part
	// Resume, if not empty, is a file with what is left to try. It is read if it is there, written
	// every minute and at an early end without a violation, and removed when all is tried. Work
	// names what it is about, with the build of the code; a file of other work is an error.
	Resume, Work string
	// Progress, if not nil, is called from time to time. It must not change its argument.
	Progress func(*Proof)
}

// A Proof says what the runs of a scenario have shown.
type Proof struct {
	Scenario scenario.Scenario
	Bounds   Bounds // as given
	// Runs counts the runs that were begun. Classes are those that were played to their end: one
	// for each class of runs with equal orders. Redundant are the others, which ended as soon as
	// all that could follow was known from other runs. They differ from a class only in the order
	// of things that commute. A run that its fault does not reach is redundant, too.
	Runs, Classes, Redundant int
	// Views counts the classes that differ in what some client has done, sent and got, up to
	// MostViews.
	Views int
	// Plans counts the plans of faults, with the empty one, and Tried those whose runs were all
	// tried.
	Plans, Tried int
	// Complete says that every run within the bounds was played, or equals one that was.
	Complete bool
	// Counts says that the code is told the true counts of children, because Bounds does not
	// promise that it looks at none, or because a run has shown that it does.
	Counts bool
	// Violation is the first violation, which ends the search; nil if there is none.
	Violation *scenario.Outcome
	// Undecided counts the classes, and runs with the times of a hunt, without a violation but with
	// an unknown verdict. FirstUndecided is the first of them, nil if there is none.
	Undecided      int
	FirstUndecided *scenario.Outcome

	// Estimate is an estimate of the number of runs that Prove would begin without bounds on its
	// time, from those so far. Of a tree, each run stands for a share, as if the ways on at each
	// choice led to equally many runs (Knuth, Estimating the Efficiency of Backtrack Programs,
	// 1975). Each known plan counts as an average one. If one way has most of the runs, the
	// estimate is far too low until these are tried.
	Estimate float64

	calm    bool // all runs without a fault were tried, and hold
	seen    basis
	views   map[uint64]bool
	unclear int // the fewest faults of a run with an unknown verdict
	// fewest says that all runs with fewer faults than Violation were tried, and none violates
	// anything.
	fewest bool
}

// Prove plays every run of a small scenario, once for each class of runs with equal orders: every
// order in which the requests of different clients reach the server, in which messages, ends of
// dials, of pauses and of contexts reach one client, in which servers apply changes, and every plan
// of at most b.Faults faults of one server. It ends early, without an error, at the first violation
// or at a bound. It returns the result so far and the error of the context when ctx is done. It
// tries all runs with fewer faults before one with more, so a violation has as few as possible; see
// [Proof.Smallest].
//
// Two clients are never held to be alike, so that only one of two runs in which they have changed
// places would be played: their scripts differ in what they draw, and the code may compare names.
//
// See [sim.Turns] for what is chosen and [trace.Thing.Commutes] for what makes two orders equal.
// What is not chosen is fixed:
//
//   - The script, and all that it draws by the seed: payloads, pauses, contexts. So is what the
//     code draws by crypto/rand.
//   - Time passes when nothing is under way. So timers, the client's own and those of the code,
//     come behind all messages that were sent before, and those of one instant in one order. So do
//     the ends of contexts of the script that last longer than [sim.Lateness]. Shorter ones, and
//     such pauses, take no time, so no timer ends within such a pause. The pauses of a client add
//     up to at most that ahead of a message on its way. A session does not end between two sleeps
//     of the code in one call.
//   - With a fault, at one server, the order of the begins and ends of calls of different clients
//     for each order of their requests. Tried are the orders in which one hold ends, or its client
//     hears that it may have, and another begins: of a lock, a lease, leadership, an element that
//     was taken, and between enter or join and leave. So are those of a begin and an end of calls
//     of a barrier, and those of a call that is answered from memory, or returns after a loss of
//     the client's own connection, and the begins and ends of others. Without a fault all orders
//     of a begin and an end are tried.
//   - Whether the server applies a request before or after another client's unrelated call begins
//     or ends.
//   - Which server each client dials first. No server is behind while time passes.
//   - The order of the names in a list of children.
//   - Handshakes, pings and idle connections, which no fault strikes.
//   - Goroutines of one client that one thing wakes go on in one order.
//   - Of two writes that commute, which one has the higher zxid: code that compares the Czxid or
//     the Mzxid of nodes sees one order. So does code that compares the ids of sessions.
//   - With b.HideCounts, what code does that looks at counts all the same. It is noticed if a run
//     without a fault, the first run of a plan, or one that is not OK is another with true counts.
//   - What happens after all scripts have ended comes in one order.
//
// Beside these runs, Prove plays each plan as a hunt does: messages, pauses and contexts take the
// time that they have by the seed. It does so twice, and it is an error if these two runs differ.
// They are not in the counts of runs, and no fault is tried in them at what the other runs never
// reach.
//
// The result, and the order in which it visits the classes, depends on the arguments alone, unless
// b.For or ctx ends it.
func Prove(ctx context.Context, s scenario.Scenario, b Bounds) (*Proof, error) {
	if err := b.Check(); err != nil {
		return nil, fmt.Errorf("prove: %w", err)
	}
	p := newProver(s)
	p.Bounds, p.Counts = b, !b.HideCounts
	if s.On != nil {
		return nil, fmt.Errorf("prove: servers: expected servers in memory")
	}
	if err := p.resume(); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Resume, err)
	}
	// Only a run in which time passes shows that clients share a connection.
	base, err := saved.Play(p.Scenario)
	if err == nil {
		err = checkCalm(base)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Scenario, err)
	}
	return p.Proof, p.run(ctx)
}

// Check reports what is wrong with the numbers of faults and their lengths.
func (b Bounds) Check() error {
	lengths := slices.Clone(b.Lasting)
	slices.Sort(lengths)
	switch n := len(lengths); {
	case b.Faults < 0 || b.Faults > MostFaults:
		return fmt.Errorf("faults: %d; expected 0 to %d", b.Faults, MostFaults)
	case n > 0 && b.Faults == 0:
		return fmt.Errorf("lasting: %v; expected none without faults", b.Lasting)
	case n > 0 && (lengths[0] < time.Millisecond || lengths[n-1] > fault.MostDuration),
		len(slices.Compact(lengths)) < n:
		return fmt.Errorf("lasting: %v; expected lengths of 1ms to %v, each once",
			b.Lasting, fault.MostDuration)
	}
	return nil
}

// MostViews bounds the number of views that a proof keeps in memory.
const MostViews = 1 << 20

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
		shared: script.Goroutines > 1}
	w.walkers = []*walker{{walk: w}}
	return &tree{walk: w, plan: plan, counts: counts,
		requests: map[string]int{}, events: map[string]int{}, instants: map[time.Duration]bool{}}
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
