package hunt

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
)

// A walk goes through the tree of all runs under a plan, the deepest first. Walkers share the work.
// Each keeps the way of its last run. What is to be tried at a choice is kept with the choice. All
// walkers that have passed it share it.
//
// It is the algorithm Source-DPOR (Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order
// Reduction, POPL 2014). After a run it looks for races: two things of which the later one could
// have come first, with nothing in between that ties them together. At the choice of the earlier
// one it then has to try something that leads to the other order. A thing that was tried sleeps in
// what is tried after it at the same choice, until something comes with which it does not commute.
// What sleeps does not depend on when it is tried, so another walker may still be trying it.
type walk struct {
	commute func(a, b trace.Thing) bool
	noLoss  bool // for tests: what is lost was never there
	deaf    bool // for tests: it does not hear what scripts say
	hasty   bool // for tests: it does not wait for what scripts say
	all     bool // each reply begins a hold, and each call ends one
	shared  bool // goroutines of a client share what it holds, and speak in any order
	own     bool // the judge is the user's
	ordered bool // the judge compares the order of creates below one node

	walkers []*walker  // none: nothing is left
	filling sync.Mutex // of choices from a file
}

// A walker plays one run after the other. While runs are under way it changes only what is its own:
// what is to be tried elsewhere is noted, and comes to the choices at the end.
type walker struct {
	*walk
	steps  []step  // of the last run, or of the next one as far as they are known
	events []event // of the last run
	due    bool    // its next run belongs to the round of runs under way
	view   uint64  // of the last run that was played to its end

	// Of the run under way.
	known    int                // steps that were there before
	at, came int                // choices and events so far
	fresh    int                // the first event that is new
	open     map[trace.Said]int // calls of a kind under way
	holds    map[string]int     // of each client: calls that begin a hold, but for those ended
	ended    map[string]bool    // whether a client has ended a hold since it began the last one
	cutOff   map[string]bool    // who has lost the connection in the call under way
	more     []more             // to be tried
	instants []time.Duration    // of its turns
	then     time.Duration      // of the last choice
	slept    bool               // something has come at once that was asleep
	long     bool               // it had more than mostEvents
	diverged error
}

// A step is what comes at a choice: one of its things.
type step struct {
	*choice
	picked int
}

// A choice is a turn of a run.
type choice struct {
	things []trace.Thing
	asleep []sleeping // at its beginning
	said   []said     // behind each of the things
	try    []int      // of the things, with those that were tried
	tried  []int      // or are being tried, in this order
	young  bool       // what scripts say behind the last of these is not yet known
	event  int        // that it led to

	known uint64 // a hash of the things, of a choice from a file, which has no things
}

// more is one of some things to be tried at a choice, or all if it has none of these.
type more struct {
	*choice
	some []int
}

// An event is a thing that has come.
type event struct {
	thing  trace.Thing
	step            // without a choice if there was none
	epoch  int      // counts the times at which something came that was no thing
	before []uint64 // the events of the epoch that are tied before it, as bits
	lost   []int    // of the things of the choice: those that it has taken away
}

// A sleeping thing of a choice was tried before.
type sleeping struct {
	Thing int  `json:"thing"`
	Said  said `json:"said"`
}

// commuteAs is commute for things behind which scripts say something.
func (w *walk) commuteAs(a trace.Thing, saidA said, b trace.Thing, saidB said) bool {
	return w.commute(a, b) && !saidA.clashes(saidB) && !w.compares(a, saidA, b, saidB)
}

func (c *choice) sleeps(n int) bool {
	return slices.ContainsFunc(c.asleep, func(s sleeping) bool { return s.Thing == n })
}

// untried is what is to be tried next, -1 if there is nothing, or for now.
func (c *choice) untried() int {
	i := slices.IndexFunc(c.try, func(n int) bool {
		return !slices.Contains(c.tried, n) && !c.sleeps(n)
	})
	if i < 0 || c.young {
		return -1
	}
	return c.try[i]
}

// begin prepares the next run.
func (w *walker) begin() {
	w.at, w.came, w.fresh, w.known, w.more = 0, 0, 0, len(w.steps), nil
	w.slept, w.long, w.instants = false, false, nil
	w.open, w.holds, w.ended = map[trace.Said]int{}, map[string]int{}, map[string]bool{}
	w.cutOff = map[string]bool{}
	if w.known > 0 && len(w.events) > 0 { // else it is from a file
		w.fresh = w.steps[w.known-1].event
	}
	w.events = w.events[:w.fresh]
}

// schedule is that of the run that is about to begin, as far as it is known.
func (w *walker) schedule() sim.Schedule {
	s := sim.Schedule{Kind: sim.Turns}
	for _, c := range w.steps {
		if len(c.said) > 1 { // for each thing
			s.Numbers = append(s.Numbers, c.picked)
		}
	}
	return s
}

// mostEvents bounds the length of a run: to tie its events takes the square of their number.
const mostEvents = 2000

// choose is the sim.Chooser of a run. Beyond mostEvents it goes the first way.
func (w *walker) choose(t trace.Turn) int {
	if w.came == mostEvents {
		w.long = true
		return 0
	}
	w.noteSaid(t.Said)
	fresh := w.at >= w.known // else it is known
	if w.at > 0 {
		w.noteLost(t.Lost)
	}
	if n := len(w.instants); n == 0 || t.Time > w.instants[n-1]+sim.Instant {
		w.instants = append(w.instants, t.Time)
	}
	if len(t.Things) == 0 {
		return 0
	}
	var made step
	if t.AtOnce {
		w.slept = w.slept || fresh && len(w.stillAsleep(t)) > 0
	} else {
		if w.slept {
			return -1 // redundant; what scripts say behind it is known now
		}
		if w.at == len(w.steps) && !w.addChoice(t) {
			return -1
		}
		if made = w.steps[w.at]; w.known > w.at {
			w.complete(made.choice, t)
		}
		if t.Apart && w.at > 0 && t.Time <= w.then+sim.Instant {
			w.diverged = fmt.Errorf("before choice %d something happened that has no order to choose",
				w.at+1)
			return -1
		}
		w.then = t.Time
		if w.at++; !sameThings(made.things, t.Things) {
			w.diverged = fmt.Errorf("%s: choice %d is between %v; before it was between %v",
				Diverges("run"), w.at, t.Things, made.things)
			return -1
		}
	}
	if w.came == len(w.events) {
		w.addEvent(t, made)
	}
	w.came++
	return made.picked
}

// pauses reports whether scripts pause at the end of a long run. A pause takes no time in a proof,
// so a script that polls looks like one that asks again and again without a pause.
func (w *walker) pauses() bool {
	return slices.ContainsFunc(w.events[max(0, len(w.events)-100):], func(e event) bool {
		return e.thing.Kind == trace.Wakes
	})
}

// noteLost sees to it that what the last event has taken away is tried before it. It is a race like
// others, but of a thing that has not come. What was too late for the choice can come behind other
// things of the choice, so all of these are tried.
func (w *walker) noteLost(lost []trace.Thing) {
	c := w.steps[w.at-1].choice
	if c.event < w.fresh || w.noLoss {
		return // it is known
	}
	for _, thing := range lost {
		at := slices.IndexFunc(c.things, thing.Same)
		if at >= 0 {
			w.events[c.event].lost = append(w.events[c.event].lost, at)
		}
		if w.at >= w.known { // else it is in the file that the choice is from
			w.more = append(w.more, more{c, []int{at}})
		}
	}
}

func sameThings(a, b []trace.Thing) bool { return slices.EqualFunc(a, b, trace.Thing.Same) }

// addChoice adds a choice behind the last one, and reports whether something is awake.
func (w *walker) addChoice(t trace.Turn) bool {
	c := &choice{things: t.Things, event: w.came, said: make([]said, len(t.Things))}
	c.asleep = w.stillAsleep(t)
	for n := range t.Things {
		if !c.sleeps(n) {
			c.try, c.tried = []int{n}, []int{n}
			w.steps = append(w.steps, step{c, n})
			return true
		}
	}
	return false
}

// stillAsleep are the things that sleep at the turn under way, with what is known of them now. Of
// the last choice these are the ones that were asleep and those that were tried before.
func (w *walker) stillAsleep(now trace.Turn) (still []sleeping) {
	if w.at == 0 || now.Apart {
		return nil
	}
	c := w.steps[w.at-1]
	asleep := slices.Clone(c.asleep)
	for _, n := range c.tried[:slices.Index(c.tried, c.picked)] {
		asleep = append(asleep, sleeping{n, c.said[n]})
	}
	for _, a := range asleep {
		thing := c.things[a.Thing] // as it was known then
		n := slices.IndexFunc(now.Things, thing.Same)
		if n >= 0 && w.commuteAs(thing, a.Said, c.things[c.picked], c.said[c.picked]) {
			still = append(still, sleeping{n, a.Said})
		}
	}
	return still
}

// addEvent adds an event, and what is tied before it.
func (w *walker) addEvent(t trace.Turn, made step) {
	n := len(w.events)
	e := event{thing: t.Things[made.picked], step: made, before: make([]uint64, n/64+1)}
	if n > 0 {
		if e.epoch = w.events[n-1].epoch; t.Apart {
			e.epoch++
		}
	}
	w.events = append(w.events, e)
}

// end looks for races in the run, which may have been ended.
func (w *walker) end() {
	for n := w.fresh; n < len(w.events); n++ {
		w.tie(n)
	}
}

// take takes in what a walker has found, one walker after the other, and lets it go on to its next
// run. What is left at a choice is for any of the walkers that have passed it, so the last of them
// does not leave before all is tried.
func (w *walk) take(by *walker) {
	for _, m := range by.more {
		m.add()
	}
	if by.known > 0 {
		by.steps[by.known-1].young = false
	}
	for at := len(by.steps) - 1; at >= 0; at-- {
		if c := by.steps[at].choice; c.untried() >= 0 {
			by.steps = append(by.steps[:at], c.pick(w.hasty))
			return
		}
	}
	w.walkers = slices.DeleteFunc(w.walkers, func(other *walker) bool { return other == by })
}

// pick is the next thing to be tried.
func (c *choice) pick(hasty bool) step {
	n := c.untried()
	c.tried, c.young = append(c.tried, n), !hasty
	return step{c, n}
}

func (m more) add() {
	inTry := func(n int) bool { return slices.Contains(m.try, n) }
	if slices.ContainsFunc(m.some, inTry) {
		return
	}
	if i := slices.IndexFunc(m.some, func(n int) bool { return n >= 0 }); i >= 0 {
		m.try = append(m.try, m.some[i])
		return
	}
	for n := range m.things { // it was too early for all of them
		if !inTry(n) {
			m.try = append(m.try, n)
		}
	}
}

// share adds walkers until there are a number of them. Each begins at the first choice at which
// something is left.
func (w *walk) share(number int) {
	for depth := 0; len(w.walkers) < number; depth++ {
		deeper := false
		for _, from := range w.walkers {
			if depth >= len(from.steps) || len(w.walkers) == number {
				continue
			}
			deeper = true
			if c := from.steps[depth].choice; c.untried() >= 0 {
				w.walkers = append(w.walkers, &walker{walk: w,
					steps:  append(slices.Clone(from.steps[:depth]), c.pick(w.hasty)),
					events: slices.Clone(from.events[:min(c.event, len(from.events))])})
			}
		}
		if !deeper {
			return
		}
	}
}

// tie finds what is tied before an event. If that could have come behind it, it is a race.
//
// What has come at once belongs to its cause: nothing can come between them. So if it does not
// commute with the event, the race is that of the cause.
func (w *walker) tie(n int) {
	e := &w.events[n]
	parts := map[int][]int{} // of a cause, that do not commute with the event
	for i := n - 1; i >= 0 && w.events[i].epoch == e.epoch; i-- {
		other := &w.events[i]
		switch cause := other.thing.After - 1; {
		case e.follows(i):
		case e.thing.After == i+1, e.thing.Kind == other.thing.Kind &&
			e.thing.Client == other.thing.Client && e.thing.Conn == other.thing.Conn &&
			slices.Contains(neverOvertake, e.thing.Kind): // cannot overtake
		case parts[i] == nil && w.commuteAs(other.thing, other.said(), e.thing, e.said()):
			continue
		case other.choice == nil && cause >= 0 && w.events[cause].epoch == e.epoch:
			parts[cause] = append(append(parts[cause], parts[i]...), i)
			continue
		default:
			w.race(i, n)
		}
		e.follow(i, other)
		for _, part := range parts[i] {
			e.follow(part, &w.events[part])
		}
	}
	for i := range n {
		if w.events[i].epoch == e.epoch && !e.follows(i) && w.tiedToLost(&w.events[i], e) {
			w.race(i, n)
		}
	}
}

// tiedToLost reports whether an event does not commute with something that another one has taken
// away. Then that can come behind it, and before the other one. If it sleeps, it is not tried at
// the choice of the other one, and no run has a race between the two.
func (w *walk) tiedToLost(other, e *event) bool {
	return slices.ContainsFunc(other.lost, func(at int) bool {
		i := slices.IndexFunc(other.asleep, func(s sleeping) bool { return s.Thing == at })
		return i >= 0 && !w.commuteAs(other.things[at], other.asleep[i].Said, e.thing, e.said())
	})
}

// neverOvertake are kinds of things that come in order at their connection or server.
var neverOvertake = []trace.ThingKind{trace.AtServer, trace.AtClient, trace.Applies}

// follows reports whether an event is tied before e.
func (e *event) follows(n int) bool { return e.before[n/64]&(1<<(n%64)) != 0 }

// said is what scripts have said behind an event. It is kept with the choice.
func (e *event) said() (s said) {
	if e.choice != nil {
		s = e.choice.said[e.picked]
	}
	return s
}

// follow ties an event before e, with all that is tied before it.
func (e *event) follow(n int, other *event) {
	e.before[n/64] |= 1 << (n % 64)
	for word, bits := range other.before {
		e.before[word] |= bits
	}
}

// race sees to it that something is tried at the choice of an event that leads to a later one
// coming first.
func (w *walker) race(first, second int) {
	c := w.events[first].choice
	if c == nil {
		return // it comes at once, so nothing can be before it
	}
	var without []int // the events in between that need not wait for the first, and the second
	for n := first + 1; n <= second; n++ {
		if n == second || !w.events[n].follows(first) {
			without = append(without, n)
		}
	}
	m := more{choice: c}
	for i, n := range without {
		if !slices.ContainsFunc(without[:i], w.events[n].follows) { // else it cannot begin
			m.some = append(m.some, slices.IndexFunc(c.things, w.events[n].thing.Same))
		}
	}
	w.more = append(w.more, m)
}

// done is the part of the tree that was tried, as far as is known.
func (w *walk) done() float64 { return doneBy(w.walkers, 0) }

// doneBy is likewise for the part of the tree below some choices that walkers have in common.
func doneBy(walkers []*walker, depth int) float64 {
	if len(walkers) == 0 {
		return 1
	}
	if depth == len(walkers[0].steps) {
		return 0
	}
	c, done := walkers[0].steps[depth], 0.0
	for _, n := range c.tried {
		var on []*walker
		for _, w := range walkers {
			if w.steps[depth].picked == n {
				on = append(on, w)
			}
		}
		done += doneBy(on, depth+1)
	}
	return done / float64(len(c.try))
}
