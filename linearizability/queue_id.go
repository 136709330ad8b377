package linearizability

import (
	"fmt"
	"slices"
	"strings"
)

// KindDiscard removes all elements with an id from a queue: Input is the id, and
// Output how many there were.
const KindDiscard = "discard"

// Identified is what an offer to a queue with ids has as its Input: "x#id".
func Identified(element, id string) string { return element + "#" + id }

// JudgeIDQueue judges the history of one FIFO queue whose elements have ids and
// can be removed by them. It is [Queue] but for the Input of an offer, see
// [Identified], and for operations of the kind [KindDiscard]:
//
//   - linearizability and order are those of the elements that were not discarded,
//     none of which may overtake one that was while that was there;
//   - delivery: a discard removes every element of its id that was in the queue from
//     its call to its return, says how many it has removed, and removes no other;
//     nothing is both discarded and delivered.
//
// Without the server's log discards may have removed anything of their ids.
type IDQueue Queue

func (opts IDQueue) judge(h History, rest *Leftovers) Report {
	ids := map[string]string{}
	h = h.sorted()
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == KindOffer {
			var id string
			op.Input, id, _ = strings.Cut(op.Input, "#")
			ids[op.Input] = id
		}
	}
	c := newQueueCase(h, Queue(opts))
	c.ids, c.discards = ids, map[*element]*Op{}
	c.assignDiscards()
	r := judgeQueueAs(c, rest, queueObject, c.queueEvents(), "FIFO queue")
	if v, bad := c.judgeDiscards(); bad {
		r.replace(v)
	}
	if stuck := h.pendingOps(KindDiscard); rest != nil && len(stuck) > 0 {
		r.replace(violated(Liveness, []int64{stuck[0].Call}, "%s never returned, although the faults stopped", describe(stuck[0])))
	}
	return r
}

// replace puts a verdict in the place of the one on the same property.
func (r *Report) replace(v Verdict) {
	r.Verdicts = slices.DeleteFunc(r.Verdicts, func(o Verdict) bool { return o.Property == v.Property })
	r.insert(v)
}

// assignDiscards finds the discard behind each removal that no take was told of.
// Only what an element did not come back from can be its discard.
func (c *queueCase) assignDiscards() {
	for _, e := range c.elements {
		if len(e.lives) == 0 || len(e.takes) > 0 && e.takes[0].Call <= e.lives[len(e.lives)-1].died {
			continue
		}
		last := e.lives[len(e.lives)-1]
		for i := range c.history.Ops {
			op := &c.history.Ops[i]
			if op.Kind == KindDiscard && op.Input == c.ids[e.value] && op.Client == last.remover && last.died != never &&
				op.Call <= last.died && (!op.ok() || last.died <= op.Return) {
				c.discards[e] = op
			}
		}
	}
	c.removals = slices.DeleteFunc(c.removals, func(r removal) bool {
		value, _ := c.decode(r.life.path, r.life.data)
		return c.discards[c.byValue[value]] != nil && r.life == c.byValue[value].lives[len(c.byValue[value].lives)-1]
	})
}

// mayBeDiscarded reports whether an element was removed by its id, or may have
// been if that is not known.
func (c *queueCase) mayBeDiscarded(e *element) bool {
	if c.ids == nil || c.log.known {
		return c.discards[e] != nil
	}
	return slices.ContainsFunc(c.history.Ops, func(op Op) bool {
		return op.Kind == KindDiscard && op.Input == c.ids[e.value] && op.Outcome != OpFailed
	})
}

// judgeDiscards compares each discard with what it has removed.
func (c *queueCase) judgeDiscards() (Verdict, bool) {
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if op.Kind != KindDiscard || !c.log.known {
			continue
		}
		removed := 0
		for _, e := range c.elements {
			if c.discards[e] == op {
				removed++
				if op.Outcome == OpFailed || len(e.takes) > 0 {
					return violated(Delivery, []int64{op.Call, e.lives[len(e.lives)-1].died}, "element %s was removed by %s%s", e.value, describe(*op), alsoTaken(e)), true
				}
			}
			if op.ok() && c.ids[e.value] == op.Input && slices.ContainsFunc(e.lives, func(l *life) bool { return l.born < op.Call && l.died > op.Return }) {
				return violated(Delivery, []int64{op.Call, op.Return}, "element %s of the id %q stayed in the queue during %s", e.value, op.Input, describe(*op)), true
			}
		}
		if op.ok() && op.Output != fmt.Sprint(removed) {
			return violated(Delivery, []int64{op.Call, op.Return}, "%s says that it removed %s elements of the id %q, but it was %d", describe(*op), op.Output, op.Input, removed), true
		}
	}
	return Verdict{}, false
}

func alsoTaken(e *element) string {
	if len(e.takes) == 0 {
		return ", which says that it was not"
	}
	return ", and delivered by " + describe(*e.takes[0])
}
