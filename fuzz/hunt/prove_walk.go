package hunt

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
)

// A fork is a part of the tree of all runs of a scenario: those that begin with some choices.
type fork struct {
	way    []int         // of a run; several forks share it
	at     int           // the choice at which the fork leaves it
	next   int           // the other choice there
	thing  trace.Thing   // that it chooses
	asleep []trace.Thing // were tried in its place already, and commute with it
	share  float64       // of the tree, if the forks at each choice have equal shares
}

// A walk is a run that follows a fork, and then takes the first way that was not tried.
type walk struct {
	fork
	commute  commuting
	begun    bool // the fork was followed
	way      []int
	asleep   []trace.Thing
	share    float64
	left     []fork // the other ways
	diverged error
}

// commuting reports whether the order of two things makes no difference.
type commuting func(a, b trace.Thing) bool

// newWalk is a walk. If commute is nil, it is [trace.Thing.Commutes].
func newWalk(b fork, commute commuting) *walk {
	if commute == nil {
		commute = trace.Thing.Commutes
	}
	return &walk{fork: b, commute: commute, begun: b.way == nil, asleep: b.asleep, share: b.share}
}

// schedule is that of the fork: the choices that the walk does not make.
func (w *walk) schedule() sim.Schedule {
	s := sim.Schedule{Kind: sim.Turns}
	if w.fork.way != nil {
		s.Numbers = append(slices.Clone(w.fork.way[:w.fork.at]), w.next)
	}
	return s
}

// choose is the sim.Chooser of a walk.
func (w *walk) choose(t trace.Turn) int {
	n := 0
	switch {
	case !w.begun:
		n = w.follow(t)
	default:
		n = w.goOn(t)
	}
	if len(t.Things) > 1 {
		w.way = append(w.way, n)
	}
	return n
}

// follow chooses as the fork says.
func (w *walk) follow(t trace.Turn) int {
	switch at := len(w.way); {
	case len(t.Things) == 1:
		return 0
	case at < w.fork.at:
		return min(w.fork.way[at], len(t.Things)-1)
	}
	w.begun = true
	if w.next >= len(t.Things) || !t.Things[w.next].Same(w.thing) {
		w.diverged = fmt.Errorf("%s: choice %d is between %v; before it had %v",
			Diverges("run"), w.fork.at+1, t.Things, w.thing)
		return -1
	}
	return w.next
}

// goOn chooses the first thing that is awake, and notes the forks of the others. The sleep sets
// are those of Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996: a
// thing sleeps if a run with the thing in this place was tried, and all that has happened since
// commutes with it.
func (w *walk) goOn(t trace.Turn) int {
	if t.Apart {
		w.asleep = nil
	}
	var asleep []trace.Thing // with what is known of them now
	var awake []int
	for n, thing := range t.Things {
		if slices.ContainsFunc(w.asleep, thing.Same) {
			asleep = append(asleep, thing)
		} else {
			awake = append(awake, n)
		}
	}
	if len(awake) == 0 {
		return -1
	}
	w.share /= float64(len(awake))
	for i, n := range awake {
		thing := t.Things[n]
		if i == 0 {
			w.asleep = w.stillAsleep(asleep, thing)
		} else {
			w.left = append(w.left, fork{at: len(w.way), next: n, thing: thing,
				asleep: w.stillAsleep(asleep, thing), share: w.share})
		}
		asleep = append(asleep, thing)
	}
	return awake[0]
}

// stillAsleep are the things that commute with one that happens.
func (w *walk) stillAsleep(asleep []trace.Thing, happens trace.Thing) []trace.Thing {
	var still []trace.Thing
	for _, a := range asleep {
		if w.commute(a, happens) {
			still = append(still, a)
		}
	}
	return still
}

// forks are the ways that the walk has not taken, the last choice last.
func (w *walk) forks() []fork {
	for i := range w.left {
		w.left[i].way = w.way
	}
	return w.left
}
