package custom

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// Object claims that each operation takes effect at one point, as a sequential model says: the
// history is linearizable, every call returns, and nothing is left at rest. Use it for your own
// kind of object.
//
// An effect lies at its Step, if that is known. Otherwise the effect of a successful operation lies
// within its interval. The effect of a pending operation, or one of unknown outcome, lies anywhere
// from its call on; O tells the model that it perhaps did nothing (as model.Maybe).
//
// To judge more, read the server's events yourself and add verdicts to the report, as
// [value.Counter] does.
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
	// that needs more is [lin.Unknown], unless its likely order explains it.
	MaxSteps int
	// Effects returns the effects in a history with slices in step order. An operation without an
	// effect is left out: one that has failed, or one that was never applied according to the
	// server's log.
	Effects func(h lin.History) []Effect[O]

	// Path is the znode of the object, or the directory of its znodes. Empty means that orphaned
	// znodes are not judged.
	Path string
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
	// MayWait reports whether a call may still be pending at rest; nil means that none may.
	MayWait func(lin.Op) bool
}

// Effect is a certain or possible effect on an object.
type Effect[O any] struct {
	Op O
	// By is the operation that had the effect, nil for the server itself.
	By *lin.Op
	// Step is the step at which the server applied it, 0 if not known. It must be known if By is
	// nil.
	Step int64
	// Read: the operation changes nothing, and Step is only a likely place.
	Read bool
	// Text is its name in the picture and the verdict; "" means that By is printed.
	Text string
}

// Properties implements [lin.Claims].
func (Object[S, O]) Properties() []string {
	return []string{lin.Linearizability, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (o Object[S, O]) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	h = h.Sorted()
	var events []judging.Event[O]
	for _, e := range o.Effects(h) {
		events = append(events, e.event(h.End))
	}
	model := judging.Model[S, O]{Start: o.Start, Step: o.Step, Show: o.Show, MaxSteps: o.MaxSteps}
	if model.Show == nil {
		model.Show = func(s S) string { return fmt.Sprintf("%v", s) }
	}
	r := lin.Report{Linearize: judging.Linearizer(model, events)}
	r.Add(judging.Linearizability(model, events, o.Noun))
	r.Add(judging.Returns(h, left, o.MayWait)...)
	if left != nil {
		r.Add(judging.Orphans(left, o.AllowedAtRest, judging.LeftBelow(h, left, o.Path),
			judging.Waits(h)))
	}
	return r
}

// event places an effect in time.
func (e Effect[O]) event(end int64) judging.Event[O] {
	ev := judging.Event[O]{Op: e.Op, Call: e.Step, Return: e.Step, Lane: "server", Text: e.Text}
	phase := int64(0)
	if e.Read {
		phase = 2
	}
	if e.By != nil {
		ev.Call, ev.Return, ev.Lane = e.By.Call, judging.End(*e.By), e.By.Client
		if ev.Text == "" {
			ev.Text = judging.CallText(*e.By)
		}
	}
	switch {
	case e.Step != 0 && !e.Read:
		ev.Call, ev.Return = e.Step, e.Step
	case e.By != nil && !e.By.OK():
		ev.Return = end + 1
	}
	ev.Key = judging.Key(ev.Return, phase)
	if e.Step != 0 {
		ev.Key = judging.Key(min(max(e.Step, ev.Call), ev.Return), phase)
	}
	return ev
}

// Anything claims only that the calls of an object return: liveness alone is judged. Once the
// faults have stopped every call must have returned, and no client may fail for ever. A client that
// hangs outside of every call is not judged: the history does not show it.
type Anything struct {
	// MayWait reports whether a call may still be pending at rest; nil means that none may.
	MayWait func(lin.Op) bool
}

// Properties implements [lin.Claims].
func (Anything) Properties() []string {
	return []string{lin.Liveness}
}

// Judge implements [lin.Claims].
func (claims Anything) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return lin.Report{Verdicts: judging.Returns(h, left, claims.MayWait)}
}
