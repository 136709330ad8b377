package judging

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	lin "github.com/zksim/zksim/linearizability"
)

// noOrderText begins a verdict that names no moment.
const noOrderText = "no order of the operations explains"

// noOrder is the verdict on a history that is not linearizable. It names the state of the object
// and the operation that does not fit it, if the server's log knows the states, and otherwise the
// operations that exclude each other.
func noOrder[S comparable, O any](o Model[S, O], events []Event[O], noun string) lin.Verdict {
	if v, found := misfit(o, events, noun); found {
		return v
	}
	v := Violated(lin.Linearizability, nil, noOrderText+" what the clients saw of the %s", noun)
	switch list := culprits(o, events); len(list) {
	case 0:
	case 1:
		v.Steps = []int64{list[0].Call, list[0].Return}
		v.Summary += fmt.Sprintf(": it goes wrong with %s", list[0].told())
	default:
		var names []string
		for _, e := range list {
			v.Steps = append(v.Steps, e.Call, e.Return)
			names = append(names, e.told())
		}
		v.Summary += ": these exclude each other: " + Listed(names)
	}
	return v
}

// Prefer gives a verdict on linearizability that names no moment the summary of the one on another
// property, if that is violated, too: a change that is missing or too many is the cause. A summary
// with one of some texts names the cause of any verdict on linearizability.
func Prefer(r *lin.Report, property string, causes ...string) {
	other, _ := r.Verdict(property)
	isCause := slices.ContainsFunc(causes, func(text string) bool {
		return strings.Contains(other.Summary, text)
	})
	for i, v := range r.Verdicts {
		if v.Property == lin.Linearizability && v.Status == lin.Violated &&
			other.Status == lin.Violated && (isCause || strings.HasPrefix(v.Summary, noOrderText)) {
			r.Verdicts[i].Summary, r.Verdicts[i].Steps = other.Summary, other.Steps
		}
	}
}

// told is an operation with its client and steps.
func (e *Event[O]) told() string {
	if e.Call == e.Return {
		return fmt.Sprintf("%s: %s (step %d)", e.Lane, e.Text, e.Call)
	}
	return fmt.Sprintf("%s: %s (steps %d to %d)", e.Lane, e.Text, e.Call, e.Return)
}

// span is the time between two changes at the server, and the states that the object may have had.
type span[S comparable] struct {
	states   []S
	from, to int64
}

// misfit looks for the first operation that does not fit the states of the object at the server. It
// finds none if the moments of the changes are not known.
func misfit[S comparable, O any](
	o Model[S, O], events []Event[O], noun string,
) (v lin.Verdict, found bool) {
	spans, bad := spansOf(o, events)
	var first *Event[O]
	for i := range events {
		e := &events[i]
		switch {
		case e.isMoment():
		case !o.onlyReads(spans, *e):
			return lin.Verdict{}, false
		case len(o.during(spans, e.Call, e.Return, e.Op)) == 0 &&
			(first == nil || e.Return < first.Return):
			first = e
		}
	}
	last := spans[len(spans)-1]
	switch {
	case first != nil && (bad == nil || first.Return < bad.moment()):
		return Violated(lin.Linearizability, []int64{first.Call, first.Return},
			"%s's %s (steps %d to %d), but the %s was %s", first.Lane, first.Text, first.Call,
			first.Return, noun, o.told(spans, first.Call, first.Return)), true
	case bad != nil:
		at := bad.moment()
		return Violated(lin.Linearizability, []int64{at},
			"%s's %s took effect at step %d, but the %s was %s", bad.Lane, bad.Text, at,
			noun, o.told([]span[S]{last}, at, at)), true
	}
	return lin.Verdict{}, false
}

// isMoment reports whether the moment of the operation is known.
func (e Event[O]) isMoment() bool { return e.Step != 0 || e.Call == e.Return }

func (e Event[O]) moment() int64 { return cmp.Or(e.Step, e.Call) }

// spansOf applies the operations whose moments are known, one after the other, up to the first that
// does not fit.
func spansOf[S comparable, O any](o Model[S, O], events []Event[O]) ([]span[S], *Event[O]) {
	list := slices.DeleteFunc(slices.Clone(events), func(e Event[O]) bool { return !e.isMoment() })
	slices.SortStableFunc(list, func(a, b Event[O]) int { return cmp.Compare(a.Key, b.Key) })
	spans := []span[S]{{states: []S{o.Start}, to: Never}}
	for i := range list {
		last := &spans[len(spans)-1]
		next := o.after(last.states, list[i].Op)
		if len(next) == 0 {
			return spans, &list[i]
		}
		if !slices.Equal(next, last.states) {
			last.to = list[i].moment()
			spans = append(spans, span[S]{states: next, from: last.to, to: Never})
		}
	}
	return spans, nil
}

// onlyReads reports whether an operation changes no state that the object had.
func (o Model[S, O]) onlyReads(spans []span[S], e Event[O]) bool {
	return !slices.ContainsFunc(spans, func(sp span[S]) bool {
		return slices.ContainsFunc(sp.states, func(s S) bool {
			return slices.ContainsFunc(o.Step(s, e.Op), func(next S) bool { return next != s })
		})
	})
}

// during returns the states after an operation at some moment of an interval.
func (o Model[S, O]) during(spans []span[S], from, to int64, op O) (list []S) {
	for _, sp := range spans {
		if sp.from <= to && from <= sp.to {
			list = append(list, o.after(sp.states, op)...)
		}
	}
	return list
}

// told lists the states of an interval, the last ones if there are many: "2 from step 5 on".
func (o Model[S, O]) told(spans []span[S], from, to int64) string {
	const most = 3
	var list []string
	for _, sp := range spans {
		if sp.from > to || from > sp.to {
			continue
		}
		var states []string
		for _, s := range sp.states {
			states = append(states, o.Show(s))
		}
		text := strings.Join(states[:min(len(states), most)], " or ")
		if len(states) > most {
			text += " or others"
		}
		if sp.from > 0 {
			text += fmt.Sprintf(" from step %d on", sp.from)
		} else {
			text += " from the beginning on"
		}
		list = append(list, text)
	}
	if len(list) > most {
		list = append([]string{"..."}, list[len(list)-most:]...)
	}
	return strings.Join(list, ", ")
}

// mostTried bounds the operations that are left out one by one.
const mostTried = 100

// culprits returns up to three operations, without each of which there is an order of the
// operations up to the first impossible one. If there are none or more, it is that one.
func culprits[S comparable, O any](o Model[S, O], events []Event[O]) []*Event[O] {
	list := slices.Clone(events)
	slices.SortStableFunc(list, func(a, b Event[O]) int { return cmp.Compare(a.Return, b.Return) })
	n := firstImpossible(o, list)
	if n < 0 {
		return nil
	}
	upTo, open := list[:n+1], openAt(list, n)
	var found []*Event[O]
	for i := range upTo[:min(len(upTo), mostTried)] {
		rest := slices.Delete(slices.Clone(upTo), i, i+1)
		if decideOpen(o, rest, open) == porcupine.Ok {
			found = append(found, &upTo[i])
		}
	}
	if len(found) == 0 || len(found) > 3 {
		return []*Event[O]{&upTo[n]}
	}
	return found
}

// firstImpossible is the operation at whose return the history stops being linearizable: those that
// returned before it are linearizable without it. It is -1 if none is found. The list is in the
// order of the returns.
func firstImpossible[S comparable, O any](o Model[S, O], list []Event[O]) int {
	low, high := 0, len(list) // the first low are fine, the first high are not
	for high-low > 1 {
		mid := (low + high) / 2
		switch decideOpen(o, list[:mid], openAt(list, mid-1)) {
		case porcupine.Ok:
			low = mid
		case porcupine.Illegal:
			high = mid
		default:
			return -1
		}
	}
	return high - 1
}

// openAt are the operations that were called before operation n returned, and return later: they
// may have taken effect already.
func openAt[O any](list []Event[O], n int) (open []Event[O]) {
	for _, e := range list[n+1:] {
		if e.Call <= list[n].Return {
			open = append(open, e)
		}
	}
	return open
}

// mostOpen bounds the open operations that have taken effect or not in all combinations. Further
// ones have.
const mostOpen = 3

// decideOpen decides operations, and open ones of which any may have taken effect.
func decideOpen[S comparable, O any](
	o Model[S, O], done, open []Event[O],
) (result porcupine.CheckResult) {
	free := open[:min(len(open), mostOpen)]
	for without := range 1 << len(free) {
		list := append(slices.Clone(done), open[len(free):]...)
		for i, e := range free {
			if without>>i&1 == 0 {
				list = append(list, e)
			}
		}
		if result, _ = Decide(o, list); result != porcupine.Illegal {
			return result
		}
	}
	return result
}
