package linearizability

import (
	"fmt"
	"slices"
)

// span is when an element got into the queue and when it left it, as far as
// that is known: each is a closed interval of steps.
type span struct {
	e            *element
	in, inRet    int64
	out, outRet  int64 // never, if nobody took it; of an element put back, the first and the last removal
	outDescribed string
}

// spans returns the elements that were certainly in the queue. With exact, the
// server's step of the create is used where it is known, which says more than
// the interval of the call.
func (c *queueCase) spans(exact bool) []span {
	var list []span
	for _, e := range c.elements {
		if s, ok := c.spanOf(e, exact); ok {
			list = append(list, s)
		}
	}
	return list
}

func (c *queueCase) spanOf(e *element, exact bool) (span, bool) {
	s := span{e: e, out: never, outRet: never}
	switch {
	case e.offer == nil || c.log.known && len(e.lives) != 1 && !e.isPutBack():
		return s, false // never stored, or twice: other checks speak of that
	case c.log.known && exact:
		s.in, s.inRet = e.lives[0].born, e.lives[0].born
	case c.log.known:
		s.in, s.inRet = e.offer.Call, max(e.lives[0].born, e.offer.Return)
	case !e.offer.ok():
		return s, false
	default:
		s.in, s.inRet = e.offer.Call, e.offer.Return
	}
	if e.isPutBack() {
		return s, c.fillOutPutBack(&s)
	}
	return s, c.fillOut(&s)
}

// fillOut finds out when the element left. It reports false if that cannot be
// known.
func (c *queueCase) fillOut(s *span) bool {
	if len(s.e.takes) > 0 {
		first := s.e.takes[0]
		s.out, s.outRet = first.Call, first.Return
		s.outDescribed = describe(*first)
		return len(s.e.takes) == 1
	}
	if !c.log.known {
		return !c.unknownTakes() && !c.mayBeDiscarded(s.e)
	}
	if l := s.e.lives[0]; l.died != never {
		s.out, s.outRet = l.died, l.died
		s.outDescribed = "a take whose reply was lost"
		if by := c.discards[s.e]; by != nil {
			s.outDescribed = describe(*by)
		}
	}
	return true
}

// fillOutPutBack is fillOut for an element that was put back: it was certainly
// there up to its first removal, and is certainly gone after its last. In
// between, younger elements may overtake it.
func (c *queueCase) fillOutPutBack(s *span) bool {
	first, last := s.e.lives[0], s.e.lives[len(s.e.lives)-1]
	s.out, s.outRet = first.died, last.died
	s.outDescribed = fmt.Sprintf("the delete of %s at step %d", last.path, last.died)
	if len(s.e.takes) > 0 {
		s.outRet, s.outDescribed = max(last.died, s.e.takes[0].Return), describe(*s.e.takes[0])
	}
	return len(s.e.takes) <= 1
}

func (c *queueCase) unknownTakes() bool {
	for i := range c.history.Ops {
		if op := &c.history.Ops[i]; isTake(op) && (op.pending() || op.Outcome == OpUnknown) {
			return true
		}
	}
	return false
}

// badPattern looks for what no queue can show.
func (c *queueCase) badPattern() (Verdict, bool) {
	for _, e := range c.elements {
		if e.offer == nil || len(e.lives) == 0 && c.log.known && len(e.takes) > 0 {
			return violated(Linearizability, []int64{e.takes[0].Call, e.takes[0].Return},
				"%s returned element %s, which was never in the queue", describe(*e.takes[0]), e.value), true
		}
		if len(e.takes) > 1 && !c.opts.MayDuplicate {
			return violated(Linearizability, []int64{e.takes[0].Return, e.takes[1].Return},
				"element %s was taken twice: by %s and by %s", e.value, describe(*e.takes[0]), describe(*e.takes[1])), true
		}
	}
	if a, b, bad := c.wrongOrder(c.spans(false)); bad {
		return violated(Linearizability, []int64{a.inRet, b.outRet}, "%s", c.orderText(a, b)), true
	}
	if c.opts.StaleReads {
		return c.staleReads()
	}
	return c.falseEmpty()
}

// wrongOrder returns two elements, the first of which certainly comes before the
// second, was in the queue before the second was taken, and certainly was not
// taken before it.
func (c *queueCase) wrongOrder(list []span) (a, b span, bad bool) {
	for _, b := range list {
		if c.mayBeDiscarded(b.e) {
			continue // it need not be the first
		}
		for _, a := range list {
			if c.comesBefore(a, b) && b.outRet < a.out {
				return a, b, true
			}
		}
	}
	return span{}, span{}, false
}

// judgeOrder compares the takes with the order of the creates at the server.
func (c *queueCase) judgeOrder() Verdict {
	if c.ranks.of != nil {
		return c.judgeRanks()
	}
	if a, b, bad := c.wrongOrder(c.spans(true)); bad {
		return violated(Order, []int64{a.inRet, b.outRet}, "%s", c.orderText(a, b))
	}
	return fine(Order, "first in, first out")
}

func (c *queueCase) orderText(a, b span) string {
	text := "element " + c.ranks.describe(a.e) + " was in the queue before " + c.ranks.describe(b.e) + " (" + describe(*a.e.offer) + ", " + describe(*b.e.offer) + "), but " + b.e.value + " left first, by " + b.outDescribed
	if a.out == never {
		return text + ", and " + a.e.value + " is still there"
	}
	return text + ", " + a.e.value + " after that by " + a.outDescribed
}

// falseEmpty looks for an empty answer during all of which one element or
// another was certainly in the queue: after its offer returned, before its take
// began.
func (c *queueCase) falseEmpty() (Verdict, bool) {
	all := c.spans(false)
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if op.Kind == KindOffer || !op.Empty || !op.ok() {
			continue
		}
		list := slices.DeleteFunc(slices.Clone(all), func(s span) bool { return !c.ranks.ready(s.e, op.CallTime) })
		if covered(list, op.Call, op.Return) {
			first := slices.IndexFunc(list, func(s span) bool { return s.inRet < op.Call && s.out > op.Call })
			return violated(Linearizability, []int64{op.Call, op.Return},
				"%s found the queue empty, although it never was meanwhile: element %s (%s) was there when the call began",
				describe(*op), list[first].e.value, describe(*list[first].e.offer)), true
		}
	}
	return Verdict{}, false
}

// covered reports whether open intervals of certain presence cover all of
// [from, to].
func covered(list []span, from, to int64) bool {
	for t := from; ; {
		reach := t
		for _, s := range list {
			if s.inRet < t && s.out > t {
				reach = max(reach, s.out)
			}
		}
		if reach > to {
			return true
		}
		if reach == t {
			return false
		}
		t = reach
	}
}
