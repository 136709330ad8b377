package linearizability

import (
	"fmt"
)

// Object is a sequential object that [Object] judges histories of.
type Object[S comparable, O any] struct {
	Noun  string // "counter"
	Start S
	// Step returns every state the object may be in after an operation, and none if
	// it cannot have happened; it changes nothing. The models of package model have
	// such methods.
	Step func(S, O) []S
	// Show prints a state for the picture; nil prints it with %v.
	Show func(S) string
	// Effects says what took effect in a history, whose slices are in step order.
	// An operation without an effect is left out: one that has failed, or of which
	// the server's log shows that it was never applied.
	Effects func(h History) []Effect[O]

	// Path is the znode of the object, or the directory of its znodes. Empty means
	// that what is left at rest is not judged.
	Path string
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
	// MayWait says which calls may still be pending at rest; nil means none.
	MayWait func(Op) bool
}

// Effect is something that happened to an object, or may have happened.
type Effect[O any] struct {
	Op O
	// By is the operation whose effect it is, or nil for the server's own doing.
	By *Op
	// Step is where the server applied it, 0 if that is not known; it has to be
	// given if By is nil.
	Step int64
	// Read: it changes nothing, and Step is only where it seems to have been.
	Read bool
	// Text is what the picture and the verdict call it; "" is made of By.
	Text string
}

// JudgeObject judges the history of any object that takes effect at one point of
// each operation: linearizability, liveness and, with a rest, orphans. An effect lies
// at its Step, if that is known. Otherwise that of an operation which returned a
// result lies within its interval, and that of one with an unknown outcome, or
// still pending, anywhere from its call on; the model is told by O whether it may
// have done nothing (model.Maybe). Rest may be nil.
//
// What is promised beyond that is for a judge of the kind to check on the server's
// log, and to add to the report: see [Counter], whose source is a pattern to
// follow.
func (o Object[S, O]) judge(h History, rest *Leftovers) Report {
	h = h.sorted()
	var events []event[O]
	for _, e := range o.Effects(h) {
		events = append(events, e.event(h.End))
	}
	model := object[S, O]{start: o.Start, step: o.Step, show: o.Show}
	if model.show == nil {
		model.show = func(s S) string { return fmt.Sprintf("%v", s) }
	}
	r := Report{draw: drawer(model, events)}
	r.Verdicts = append(r.Verdicts, judge(model, events, o.Noun, patience))
	r.Verdicts = append(r.Verdicts, h.judgeReturns(rest, o.MayWait)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest, o.AllowedAtRest, leftBelow(rest, o.Path), h.waits))
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
		ev.call, ev.ret, ev.lane, ev.note = e.By.Call, e.By.end(), e.By.Client, note(*e.By)
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

// callText prints a call and what came of it: "add(1) -> 7".
func callText(op Op) string {
	text := fmt.Sprintf("%s(%s)", op.Kind, op.Input)
	switch {
	case !op.ok():
		return text + " (" + op.Outcome.String() + ")"
	case op.Empty:
		return text + " -> nothing"
	case op.Output != "":
		return text + " -> " + op.Output
	}
	return text
}

// judgeReturns asks of every call still pending at rest whether it may be.
func (h History) judgeReturns(rest *Leftovers, mayWait func(Op) bool) []Verdict {
	var stuck []Op
	for _, op := range h.Ops {
		if op.pending() && (mayWait == nil || !mayWait(op)) {
			stuck = append(stuck, op)
		}
	}
	switch {
	case rest == nil:
		return unsettled(stuck)
	case len(stuck) > 0:
		text := describe(stuck[0]) + " never returned, although the faults stopped"
		if w, known := rest.wait(stuck[0].Client); known && w.Path != "" {
			text += "; it waits for a watch on " + w.Path
		} else if known && w.Why != "" {
			text += "; it waits for " + w.Why
		}
		return []Verdict{violated(Liveness, []int64{stuck[0].Call}, "%s", text)}
	case len(rest.Wedged) > 0:
		return []Verdict{violated(Liveness, nil, "wedged: %s", rest.Wedged[0])}
	}
	return []Verdict{fine(Liveness, "every call returned that had to")}
}

// leftBelow returns what is left below a path, directories left out.
func leftBelow(rest *Leftovers, dir string) []orphan {
	var list []orphan
	for _, n := range rest.Nodes {
		if dir != "" && below(dir, n.Path) && !hasChild(rest, n.Path) {
			list = append(list, orphan{n, "is left below " + dir})
		}
	}
	return list
}
