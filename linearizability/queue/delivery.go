package queue

import (
	"fmt"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// misdelivery is an element that was lost or duplicated.
type misdelivery struct {
	value string
	text  string
	steps []int64
	// unstored: its offer has lost it, and not a delivery, so no claim allows it.
	unstored bool
}

// judgeElements compares lost and duplicated elements with the queue's promises, and lists them in
// the report.
func judgeElements(t table, r *lin.Report, left *lin.Leftovers) lin.Verdict {
	lost, doubled := lostElements(t, left), duplicatedElements(t)
	for _, m := range lost {
		r.Lost = append(r.Lost, m.value)
	}
	for _, m := range doubled {
		r.Duplicated = append(r.Duplicated, m.value)
	}
	if v, bad := failedOfferStored(t); bad {
		return v
	}
	isUnstored := func(m misdelivery) bool { return m.unstored }
	switch i := slices.IndexFunc(lost, isUnstored); {
	case i >= 0:
		return judging.Violated(lin.Delivery, lost[i].steps, "%s%s", lost[i].text, andMore(lost))
	case len(lost) > 0 && !t.claims.MayLose:
		return judging.Violated(lin.Delivery, lost[0].steps, "%s%s", lost[0].text, andMore(lost))
	case len(doubled) > 0 && !t.claims.MayDuplicate:
		return judging.Violated(lin.Delivery, doubled[0].steps, "%s%s", doubled[0].text, andMore(doubled))
	case len(lost) > 0:
		return judging.Fine(lin.Delivery, "%s lost, which at-most-once allows: %s",
			judging.Count(len(lost), "element"), lost[0].text)
	case len(doubled) > 0:
		return judging.Fine(lin.Delivery, "%s duplicated, which at-least-once allows: %s",
			judging.Count(len(doubled), "element"), doubled[0].text)
	}
	return judging.Fine(lin.Delivery, "nothing lost, nothing duplicated")
}

func andMore(list []misdelivery) string {
	if len(list) == 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", len(list)-1)
}

// lostElements returns the elements that were removed from the queue and never returned by a call,
// not even together with an error.
func lostElements(t table, left *lin.Leftovers) []misdelivery {
	var list []misdelivery
	for _, e := range t.elements {
		if e.offer == nil || len(e.takes) > 0 || len(e.uncertainTakes) > 0 || e.discarded ||
			e.isUnclear() {
			continue
		}
		find := lostByClients
		if t.log.Known {
			find = lostByLog
		}
		if m, lost := find(t, e, left); lost {
			list = append(list, m)
		}
	}
	return list
}

// lostByLog finds out from the server's log whether an element is lost.
func lostByLog(t table, e *element, _ *lin.Leftovers) (m misdelivery, lost bool) {
	if len(e.znodes) == 0 {
		text := fmt.Sprintf("element %s is lost: %s was acknowledged, "+
			"but no znode was ever created for it", e.name, judging.Describe(*e.offer))
		steps := []int64{e.offer.Call, e.offer.Return}
		return misdelivery{e.value, text, steps, true}, e.offer.OK()
	}
	for _, z := range e.znodes {
		if z.Deleted == judging.Never {
			return misdelivery{}, false
		}
	}
	last := e.last()
	text := fmt.Sprintf("element %s, offered by %s, is lost: ", e.name, e.offer.Client)
	r, _ := t.removalOf(last)
	switch {
	case t.diedWith(last):
		return misdelivery{}, false
	case r.by != nil:
		text += fmt.Sprintf("%s removed %s at step %d, and nobody ever got the element",
			judging.Describe(*r.by), last.Path, last.Deleted)
	case last.WithSession:
		text += fmt.Sprintf("%s was deleted at step %d, when %s ended",
			last.Path, last.Deleted, judging.Session(last.Owner))
	default:
		text += fmt.Sprintf("%s deleted %s at step %d, %s", last.RemovedByWhom(), last.Path,
			last.Deleted, t.outsideTakes(last))
	}
	steps := []int64{e.offer.Call, last.Created, last.Deleted}
	return misdelivery{e.value, text, steps, false}, true
}

// outsideTakes says that a znode was removed outside of any take that could have returned its
// element, or in a take that returned another.
func (t table) outsideTakes(z *judging.Znode) string {
	for _, op := range t.history.Ops {
		if isTake(&op) && op.OK() && !op.Empty && op.Client == z.Remover && op.Call <= z.Deleted &&
			z.Deleted <= op.Return {
			return "but " + judging.Describe(op) + " returned " + op.Output + " only"
		}
	}
	return "outside of any take that could have returned it"
}

// diedWith reports whether an element may have died with the process that removed it. Several
// goroutines of a client can be in a take, and the log does not tell them apart.
func (t table) diedWith(z *judging.Znode) bool {
	return slices.ContainsFunc(t.history.Ops, func(op lin.Op) bool {
		return op.Client == z.Remover && op.Call <= z.Deleted && z.Created <= judging.End(op) &&
			t.diedInDoubt(op)
	})
}

// diedInDoubt reports whether a process has died in a take, or after a take with an unknown outcome
// and before a later take succeeded: that would have found out.
func (t table) diedInDoubt(op lin.Op) bool {
	death, died := judging.FirstNotice(t.history, op.Client, op.Call, lin.Died)
	return died && isTake(&op) && op.Outcome == lin.OpUnknown &&
		!slices.ContainsFunc(t.history.Ops, func(later lin.Op) bool {
			return later.Client == op.Client && isTake(&later) && later.OK() &&
				later.Call >= op.Return && later.Return < death.Step
		})
}

// lostByClients finds out from leftovers and results whether an element is lost.
func lostByClients(t table, e *element, left *lin.Leftovers) (m misdelivery, lost bool) {
	if left == nil || !e.offer.OK() {
		return misdelivery{}, false
	}
	missing := 0 // of its equals, up to itself
	for _, other := range e.equals[:slices.Index(e.equals, e)+1] {
		if other.offer.OK() && len(other.takes)+len(other.uncertainTakes) == 0 {
			missing++
		}
	}
	for _, n := range left.Nodes {
		if stored := t.storedIn(n); stored != nil && stored.value == e.value {
			missing--
		}
	}
	if missing <= 0 {
		return misdelivery{}, false
	}
	text := fmt.Sprintf("element %s is lost: %s was acknowledged, it is not in the queue any "+
		"more, and no take returned it", e.name, judging.Describe(*e.offer))
	if slices.ContainsFunc(t.history.Ops, func(op lin.Op) bool {
		return t.diedInDoubt(op) && op.Return > e.offer.Call
	}) {
		return misdelivery{}, false // the element may have died with the process
	}
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if isTake(op) && op.Outcome == lin.OpUnknown {
			text += "; perhaps " + judging.Describe(*op) + " took it"
			steps := []int64{e.offer.Call, op.Call, op.Return}
			return misdelivery{e.value, text, steps, false}, true
		}
	}
	return misdelivery{e.value, text, []int64{e.offer.Call, e.offer.Return}, false}, true
}

// duplicatedElements returns the elements that were stored or returned more than once.
func duplicatedElements(t table) []misdelivery {
	var list []misdelivery
	for _, e := range t.elements {
		if e.isUnclear() {
			continue
		}
		if len(e.takes) > 1 {
			a, b := e.takes[0], e.takes[1]
			list = append(list, misdelivery{e.value, e.textOfTakes("delivered"),
				[]int64{a.Return, b.Return}, false})
		} else if a, b, twice := e.storedTwice(); twice {
			steps := []int64{a.Created, b.Created}
			list = append(list, misdelivery{e.value, e.textOfCopies(a, b), steps, false})
		}
	}
	return list
}

// failedOfferStored looks for an offer that reported failure, but was applied.
func failedOfferStored(t table) (v lin.Verdict, bad bool) {
	for _, e := range t.elements {
		if e.offer != nil && e.offer.Outcome == lin.OpFailed && len(e.znodes) > 0 &&
			!e.isUnclear() {
			since := e.znodes[0].Created
			return judging.Violated(lin.Delivery, []int64{e.offer.Call, since, e.offer.Return},
				"element %s is in the queue since step %d, although %s said that it is not",
				e.name, since, judging.Describe(*e.offer)), true
		}
	}
	return lin.Verdict{}, false
}
