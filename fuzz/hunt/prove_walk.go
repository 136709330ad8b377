package hunt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
)

// A walk goes through the tree of all runs under a plan, one run at a time, the deepest first. It
// keeps the way of the last run, and what is to be tried at each of its choices.
//
// It is the algorithm Source-DPOR (Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order
// Reduction, POPL 2014). After a run it looks for races: two things of which the later one could
// have come first, with nothing in between that ties them together. At the choice of the earlier
// one it then has to try something that leads to the other order. A thing that was tried sleeps in
// what is tried after it at the same choice, until something comes with which it does not commute.
type walk struct {
	commute func(a, b trace.Thing) bool
	noLoss  bool // for tests: what is lost was never there
	deaf    bool // for tests: it does not hear what scripts say

	choices []*choice // of the last run
	events  []event   // of the last run
	over    bool      // nothing is left

	// Of the run under way.
	at, came int  // choices and events so far
	fresh    int  // the first event that is new
	long     bool // it had more than mostEvents
	diverged error
}

// A choice is a turn of a run.
type choice struct {
	things []trace.Thing
	asleep []sleeping // at its beginning
	said   map[int]said
	try    []int // of the things, with those that were tried
	tried  []int
	picked int
	event  int // that it led to

	known uint64 // a hash of the things, of a choice from a file, which has no things
}

// An event is a thing that has come.
type event struct {
	thing  trace.Thing
	choice *choice  // nil if there was none
	epoch  int      // counts the times at which something came that was no thing
	before []uint64 // the events of the epoch that are tied before it, as bits
}

// A sleeping thing was tried before.
type sleeping struct {
	trace.Thing
	said said
}

// said tells whether a hold, such as that of a lock, begins or ends with what scripts say behind a
// thing. Whether two holds are at once is for the judge to see, so the end of one and the begin of
// another do not commute.
type said struct {
	Begins bool `json:"begins"`
	Ends   bool `json:"ends"`
}

// add adds a line.
func (s *said) add(line string) {
	words := strings.Fields(line)
	switch {
	case len(words) < 2:
	case words[0] == "calls":
		s.Ends = s.Ends || slices.Contains(holdEnds, words[1])
	case strings.HasPrefix(words[1], "returns"):
		s.Begins = s.Begins || slices.Contains(holdBegins, words[0])
		s.Ends = s.Ends || words[0] == ops.Hold
	case line == scenario.ToldLost:
		s.Ends = true
	}
}

// holdBegins are the operations whose return begins what a judge compares with what other clients
// hold, and holdEnds those whose call ends it.
var (
	holdBegins = []string{ops.Lock, ops.Acquire, ops.Lead, ops.Take, ops.Enter, ops.Join}
	holdEnds   = []string{ops.Unlock, ops.Release, ops.Resign, ops.Ack, ops.Leave, ops.Close}
)

func (s said) clashes(o said) bool { return s.Begins && o.Ends || s.Ends && o.Begins }

// commuteAs is commute for things behind which scripts say something.
func (w *walk) commuteAs(a trace.Thing, saidA said, b trace.Thing, saidB said) bool {
	return w.commute(a, b) && !saidA.clashes(saidB)
}

func (c *choice) sleeps(thing trace.Thing) bool {
	return slices.ContainsFunc(c.asleep, func(s sleeping) bool { return s.Same(thing) })
}

func newWalk(commute func(a, b trace.Thing) bool) *walk { return &walk{commute: commute} }

// begin prepares the next run.
func (w *walk) begin() {
	w.at, w.came, w.fresh = 0, 0, 0
	if n := len(w.choices); n > 0 {
		w.fresh = w.choices[n-1].event
	}
	w.events = w.events[:w.fresh]
}

// schedule is that of the run that is about to begin, as far as it is known.
func (w *walk) schedule() sim.Schedule {
	s := sim.Schedule{Kind: sim.Turns}
	for _, c := range w.choices {
		if len(c.things) > 1 {
			s.Numbers = append(s.Numbers, c.picked)
		}
	}
	return s
}

// mostEvents bounds the length of a run: to tie its events takes the square of their number.
const mostEvents = 2000

// choose is the sim.Chooser of a run. Beyond mostEvents it goes the first way.
func (w *walk) choose(t trace.Turn) int {
	if w.came == mostEvents {
		w.long = true
		return 0
	}
	w.noteSaid(t.Said)
	w.noteLost(t.Lost)
	if len(t.Things) == 0 {
		return 0
	}
	picked := 0
	var made *choice
	if !t.AtOnce {
		if w.at == len(w.choices) && !w.addChoice(t) {
			return -1
		}
		if made = w.choices[w.at]; made.things == nil {
			w.complete(made, t)
		}
		w.at++
		if picked = made.picked; !sameThings(made.things, t.Things) {
			w.diverged = fmt.Errorf("%s: choice %d is between %v; before it was between %v",
				Diverges("run"), w.at, t.Things, made.things)
			return -1
		}
	}
	if w.came == len(w.events) {
		w.addEvent(t, picked, made)
	}
	w.came++
	return picked
}

// last is the last choice, nil before the first one. The events behind its own have come at once.
func (w *walk) last() *choice {
	if w.at == 0 {
		return nil
	}
	return w.choices[w.at-1]
}

// noteSaid notes what scripts have said behind the last event that was chosen.
func (w *walk) noteSaid(lines []trace.Said) {
	c := w.last()
	if c == nil || w.deaf {
		return
	}
	said := c.said[c.picked]
	for _, line := range lines {
		said.add(line.Text)
	}
	c.said[c.picked] = said
}

// noteLost sees to it that what the last event has taken away is tried before it. It is a race like
// others, but of a thing that has not come.
func (w *walk) noteLost(lost []trace.Thing) {
	c := w.last()
	if c == nil || w.noLoss {
		return
	}
	for _, thing := range lost {
		at := slices.IndexFunc(c.things, thing.Same)
		if at >= 0 && !slices.Contains(c.try, at) {
			c.try = append(c.try, at)
		}
	}
}

func sameThings(a, b []trace.Thing) bool { return slices.EqualFunc(a, b, trace.Thing.Same) }

// addChoice adds a choice behind the last one, and reports whether something is awake.
func (w *walk) addChoice(t trace.Turn) bool {
	c := &choice{things: t.Things, event: w.came, said: map[int]said{}}
	if w.at > 0 && !t.Apart {
		c.asleep = w.stillAsleep(w.choices[w.at-1], t.Things)
	}
	for n, thing := range t.Things {
		if !c.sleeps(thing) {
			c.try, c.picked = []int{n}, n
			w.choices = append(w.choices, c)
			return true
		}
	}
	return false
}

// stillAsleep are the things that sleep after a choice, with what is known of them now.
func (w *walk) stillAsleep(c *choice, now []trace.Thing) (still []sleeping) {
	asleep := slices.Clone(c.asleep)
	for _, n := range c.tried {
		asleep = append(asleep, sleeping{c.things[n], c.said[n]})
	}
	for _, a := range asleep {
		n := slices.IndexFunc(c.things, a.Same) // as it was known then
		m := slices.IndexFunc(now, a.Same)
		if n >= 0 && m >= 0 &&
			w.commuteAs(c.things[n], a.said, c.things[c.picked], c.said[c.picked]) {
			still = append(still, sleeping{now[m], a.said})
		}
	}
	return still
}

// addEvent adds an event, and what is tied before it.
func (w *walk) addEvent(t trace.Turn, picked int, made *choice) {
	n := len(w.events)
	e := event{thing: t.Things[picked], choice: made, before: make([]uint64, n/64+1)}
	if made != nil {
		made.event = n
	}
	if n > 0 {
		if e.epoch = w.events[n-1].epoch; t.Apart {
			e.epoch++
		}
	}
	w.events = append(w.events, e)
}

// end takes in the run, which may have been ended, and goes on to the next one.
func (w *walk) end() {
	for n := w.fresh; n < len(w.events); n++ {
		w.tie(n)
	}
	for len(w.choices) > 0 {
		c := w.choices[len(w.choices)-1]
		c.tried = append(c.tried, c.picked)
		for _, n := range c.try {
			if !slices.Contains(c.tried, n) && !c.sleeps(c.things[n]) {
				c.picked = n
				return
			}
		}
		w.choices = w.choices[:len(w.choices)-1]
	}
	w.over = true
}

// tie finds what is tied before an event. If that could have come behind it, it is a race.
//
// What has come at once belongs to its cause: nothing can come between them. So if it does not
// commute with the event, the race is that of the cause.
func (w *walk) tie(n int) {
	e := &w.events[n]
	parts := map[int][]int{} // of a cause, that do not commute with the event
	for i := n - 1; i >= 0 && w.events[i].epoch == e.epoch; i-- {
		other := &w.events[i]
		switch cause := other.thing.After - 1; {
		case e.follows(i):
		case e.thing.After == i+1, e.thing.Kind == other.thing.Kind &&
			e.thing.Client == other.thing.Client && e.thing.Conn == other.thing.Conn &&
			(e.thing.Kind == trace.AtServer || e.thing.Kind == trace.AtClient): // cannot overtake
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
}

// follows reports whether an event is tied before e.
func (e *event) follows(n int) bool { return e.before[n/64]&(1<<(n%64)) != 0 }

// said is what scripts have said behind an event. It is kept with the choice.
func (e *event) said() (s said) {
	if e.choice != nil {
		s = e.choice.said[e.choice.picked]
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
func (w *walk) race(first, second int) {
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
	add := -1
	for i, n := range without {
		if slices.ContainsFunc(without[:i], w.events[n].follows) {
			continue // it cannot begin
		}
		there := slices.IndexFunc(c.things, w.events[n].thing.Same)
		if slices.Contains(c.try, there) {
			return
		}
		if add < 0 {
			add = there
		}
	}
	if add >= 0 {
		c.try = append(c.try, add)
		return
	}
	for n := range c.things { // it was too early for all of them
		if !slices.Contains(c.try, n) {
			c.try = append(c.try, n)
		}
	}
}

// share is the part of the tree that was tried, as far as is known.
func (w *walk) share() float64 {
	if w.over {
		return 1
	}
	done, part := 0.0, 1.0
	for _, c := range w.choices {
		known := max(1, len(c.try))
		done += part * float64(len(c.tried)) / float64(known)
		part /= float64(known)
	}
	return done
}
