package queue

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// span has two closed intervals of steps: the arrival of an element in the queue, and its removal.
type span struct {
	e           *element
	in, inRet   int64
	out, outRet int64  // never, if it was not taken; the first and last removal, if it was put back
	outText     string // the call that removed it
}

// spansOf returns the elements that were certainly in the queue. With exact, the server's step of
// the create is used where it is known, which says more than the interval of the call.
func spansOf(t table, exact bool) []span {
	var list []span
	for _, e := range t.elements {
		if s, ok := spanOf(t, e, exact); ok {
			list = append(list, s)
		}
	}
	return list
}

func spanOf(t table, e *element, exact bool) (s span, ok bool) {
	s = span{e: e, out: judging.Never, outRet: judging.Never}
	switch {
	case e.isRepeated() && !(exact && t.log.Known && e.hasPlace()):
		return s, false // porcupine judges that
	case e.offer == nil || t.log.Known && len(e.znodes) != 1 && !e.isPutBack():
		return s, false // never stored, or twice: other checks judge that
	case t.log.Known && exact:
		s.in, s.inRet = e.znodes[0].Created, e.znodes[0].Created
	case t.log.Known:
		s.in, s.inRet = e.offer.Call, max(e.znodes[0].Created, e.offer.Return)
	case !e.offer.OK():
		return s, false
	default:
		s.in, s.inRet = e.offer.Call, e.offer.Return
	}
	if e.isPutBack() {
		ok = s.endPutBack()
	} else {
		ok = s.end(t)
	}
	return s, ok
}

// end finds out when the element left. It reports false if that cannot be known.
func (s *span) end(t table) bool {
	if len(s.e.takes) > 0 {
		first := s.e.takes[0]
		s.out, s.outRet, s.outText = first.Call, first.Return, judging.Describe(*first)
		if t.log.Known && t.claims.MayOvertake && t.claims.StaleReads {
			s.out = min(s.out, t.listed(s.e, first))
		}
		return len(s.e.takes) == 1
	}
	if !t.log.Known {
		return !unknownTakes(t) && !s.e.discarded
	}
	if z := s.e.znodes[0]; z.Deleted != judging.Never {
		s.out, s.outRet = z.Deleted, z.Deleted
		s.outText = fmt.Sprintf("%s's delete of %s at step %d", z.RemovedByWhom(), z.Path, z.Deleted)
		r, _ := t.removalOf(z)
		if r.by != nil {
			s.outText = judging.Describe(*r.by)
		}
		if r.by != nil && t.claims.MayOvertake {
			s.out = t.listed(s.e, r.by)
		}
		if by := s.e.discard; by != nil {
			s.outText = judging.Describe(*by)
		}
	}
	return true
}

// endPutBack is end for an element that was put back: it was certainly there up to its first
// removal, and is certainly gone after its last. In between, younger elements may overtake it.
func (s *span) endPutBack() bool {
	first, last := s.e.znodes[0], s.e.last()
	s.out, s.outRet = first.Deleted, last.Deleted
	s.outText = fmt.Sprintf("the delete of %s at step %d", last.Path, last.Deleted)
	if len(s.e.takes) > 0 {
		s.outRet = max(last.Deleted, s.e.takes[0].Return)
		s.outText = judging.Describe(*s.e.takes[0])
	}
	return len(s.e.takes) <= 1
}

func unknownTakes(t table) bool {
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if isTake(op) && (op.Pending() || op.Outcome == lin.OpUnknown) {
			return true
		}
	}
	return false
}
