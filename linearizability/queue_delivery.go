package linearizability

import "fmt"

// loss is an element that went missing, or was there too often.
type loss struct {
	value string
	text  string
	steps []int64
}

// judgeDelivery counts what was lost and what was duplicated, and holds it
// against what the queue promises.
func (c *queueCase) judgeDelivery(r *Report, rest *Leftovers) Verdict {
	lost, doubled := c.lost(rest), c.duplicated()
	for _, l := range lost {
		r.Lost = append(r.Lost, l.value)
	}
	for _, l := range doubled {
		r.Duplicated = append(r.Duplicated, l.value)
	}
	if v, bad := c.lyingOffer(); bad {
		return v
	}
	if len(lost) > 0 && !c.opts.MayLose {
		return violated(Delivery, lost[0].steps, "%s%s", lost[0].text, more(lost))
	}
	if len(doubled) > 0 && !c.opts.MayDuplicate {
		return violated(Delivery, doubled[0].steps, "%s%s", doubled[0].text, more(doubled))
	}
	switch {
	case len(lost) > 0:
		return fine(Delivery, "%s lost, which at-most-once allows: %s", count(len(lost), "element"), lost[0].text)
	case len(doubled) > 0:
		return fine(Delivery, "%s duplicated, which at-least-once allows: %s", count(len(doubled), "element"), doubled[0].text)
	}
	return fine(Delivery, "nothing lost, nothing duplicated")
}

func more(list []loss) string {
	if len(list) == 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", len(list)-1)
}

// lost returns the elements that were in the queue, are not any more, and that
// no caller ever got, not even together with an error.
func (c *queueCase) lost(rest *Leftovers) []loss {
	var list []loss
	for _, e := range c.elements {
		if e.offer == nil || len(e.takes) > 0 || len(e.hints) > 0 || c.mayBeDiscarded(e) {
			continue
		}
		if l, bad := c.lostOne(e, rest); bad {
			list = append(list, l)
		}
	}
	return list
}

func (c *queueCase) lostOne(e *element, rest *Leftovers) (loss, bool) {
	switch {
	case c.log.known && len(e.lives) == 0:
		return loss{e.value, fmt.Sprintf("element %s is lost: %s was acknowledged, but no znode was ever created for it", e.value, describe(*e.offer)),
			[]int64{e.offer.Call, e.offer.Return}}, e.offer.ok()
	case c.log.known:
		for _, l := range e.lives {
			if l.died == never {
				return loss{}, false
			}
		}
		return c.lostAtServer(e), true
	case rest == nil || !e.offer.ok() || c.atRest(e.value, rest):
		return loss{}, false
	}
	text := fmt.Sprintf("element %s is lost: %s was acknowledged, it is not in the queue any more, and no take returned it", e.value, describe(*e.offer))
	for i := range c.history.Ops {
		if op := &c.history.Ops[i]; isTake(op) && op.Outcome == OpUnknown {
			return loss{e.value, text + "; perhaps " + describe(*op) + " took it", []int64{e.offer.Call, op.Call, op.Return}}, true
		}
	}
	return loss{e.value, text, []int64{e.offer.Call, e.offer.Return}}, true
}

func (c *queueCase) lostAtServer(e *element) loss {
	last := e.lives[len(e.lives)-1]
	text := fmt.Sprintf("element %s, offered by %s, is lost: ", e.value, e.offer.Client)
	r, _ := c.removed(last)
	switch {
	case r.by != nil && r.by.Outcome == OpUnknown:
		text += fmt.Sprintf("%s removed %s at step %d, but its reply was lost, and nobody ever got the element", describe(*r.by), last.path, last.died)
	case r.by != nil:
		text += fmt.Sprintf("%s removed %s at step %d, and nobody ever got the element", describe(*r.by), last.path, last.died)
	case last.withSession:
		text += fmt.Sprintf("%s was deleted at step %d, when %s ended", last.path, last.died, session(last.owner))
	default:
		text += fmt.Sprintf("%s deleted %s at step %d, outside of any take that could have returned it", ownerOr(last.remover, "the server"), last.path, last.died)
	}
	return loss{e.value, text, []int64{e.offer.Call, last.born, last.died}}
}

func (c *queueCase) atRest(value string, rest *Leftovers) bool {
	for _, n := range rest.Nodes {
		if v, ok := c.decode(n.Path, n.Data); ok && v == value {
			return true
		}
	}
	return false
}

// duplicated returns the elements that were stored or handed out more than once.
func (c *queueCase) duplicated() []loss {
	var list []loss
	for _, e := range c.elements {
		if len(e.takes) > 1 {
			a, b := e.takes[0], e.takes[1]
			list = append(list, loss{e.value, fmt.Sprintf("element %s was delivered twice: by %s and by %s", e.value, describe(*a), describe(*b)),
				[]int64{a.Return, b.Return}})
		} else if a, b, twice := e.storedTwice(); twice {
			list = append(list, loss{e.value, e.textOfCopies(a, b), []int64{a.born, b.born}})
		}
	}
	return list
}

// lyingOffer looks for an offer that was said to have failed for certain, but
// did not.
func (c *queueCase) lyingOffer() (Verdict, bool) {
	for _, e := range c.elements {
		if e.offer != nil && e.offer.Outcome == OpFailed && len(e.lives) > 0 {
			return violated(Delivery, []int64{e.offer.Call, e.lives[0].born},
				"element %s is in the queue since step %d, although %s said that it is not", e.value, e.lives[0].born, describe(*e.offer)), true
		}
	}
	return Verdict{}, false
}
