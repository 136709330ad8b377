package linearizability

import "fmt"

// Object claims that each operation takes effect at one point, as a sequential model says: the
// history is linearizable, every call returns, and nothing is left at rest. Use it for your own
// kind of object.
//
// An effect lies at its Step, if that is known. Otherwise the effect of a successful operation lies
// within its interval. The effect of a pending operation, or one of unknown outcome, lies anywhere
// from its call on; O tells the model that it perhaps did nothing (as model.Maybe).
//
// To judge more, read the server's events yourself and add verdicts to the report, as [Counter]
// does.
type Object[S comparable, O any] struct {
	Noun  string // "counter"
	Start S
	// Step returns every state that the object may be in after an operation, and none if the
	// operation cannot have happened; it must not change its argument. The models of package model
	// have such methods.
	Step func(S, O) []S
	// Show prints a state for the picture; nil prints it with %v.
	Show func(S) string
	// MaxSteps limits the steps of the model in one search for an order, 0 means 20,000. A history
	// that needs more is [Unknown], unless its likely order explains it.
	MaxSteps int
	// Effects returns the effects in a history with slices in step order. An operation without an
	// effect is left out: one that has failed, or one that was never applied according to the
	// server's log.
	Effects func(h History) []Effect[O]

	// Path is the znode of the object, or the directory of its znodes. Empty means that orphaned
	// znodes are not judged.
	Path string
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
	// MayWait reports whether a call may still be pending at rest; nil means that none may.
	MayWait func(Op) bool
}

// Effect is a certain or possible effect on an object.
type Effect[O any] struct {
	Op O
	// By is the operation that had the effect, nil for the server itself.
	By *Op
	// Step is the step at which the server applied it, 0 if not known. It must be known if By is
	// nil.
	Step int64
	// Read: the operation changes nothing, and Step is only a likely place.
	Read bool
	// Text is its name in the picture and the verdict; "" means that By is printed.
	Text string
}

func (o Object[S, O]) judge(h History, left *Leftovers) Report {
	h = h.sorted()
	var events []event[O]
	for _, e := range o.Effects(h) {
		events = append(events, e.event(h.End))
	}
	model := sequential[S, O]{start: o.Start, step: o.Step, show: o.Show, most: o.MaxSteps}
	if model.show == nil {
		model.show = func(s S) string { return fmt.Sprintf("%v", s) }
	}
	r := Report{Linearize: orderer(model, events)}
	r.add(judgeLinearizability(model, events, o.Noun))
	r.add(judgeReturns(h, left, o.MayWait)...)
	if left != nil {
		r.add(judgeOrphans(left, o.AllowedAtRest, leftBelow(left, o.Path), Waits(h)))
	}
	return r
}

// event places an effect in time.
func (e Effect[O]) event(end int64) event[O] {
	ev := event[O]{op: e.Op, call: e.Step, ret: e.Step, lane: "server", text: e.Text}
	phase := int64(0)
	if e.Read {
		phase = 2
	}
	if e.By != nil {
		ev.call, ev.ret, ev.lane = e.By.Call, End(*e.By), e.By.Client
		if ev.text == "" {
			ev.text = callText(*e.By)
		}
	}
	switch {
	case e.Step != 0 && !e.Read:
		ev.call, ev.ret = e.Step, e.Step
	case e.By != nil && !e.By.ok():
		ev.ret = end + 1
	}
	ev.key = at(ev.ret, phase)
	if e.Step != 0 {
		ev.key = at(min(max(e.Step, ev.call), ev.ret), phase)
	}
	return ev
}

// Anything claims only that the calls of an object return: liveness alone is judged. Once the
// faults have stopped every call must have returned, and no client may fail for ever. A client that
// hangs outside of every call is not judged: the history does not show it.
type Anything struct {
	// MayWait reports whether a call may still be pending at rest; nil means that none may.
	MayWait func(Op) bool
}

func (claims Anything) judge(h History, left *Leftovers) Report {
	return Report{Verdicts: judgeReturns(h, left, claims.MayWait)}
}
