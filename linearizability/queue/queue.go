package queue

import (
	"cmp"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// Claims claims to be a queue. Its calls are [ops.Offer], [ops.Poll], [ops.Take] and [ops.Peek].
// The zero value is a FIFO queue that delivers exactly once. It is empty at first.
//
// The server's log settles calls of unknown outcome: an offer took effect if a znode with its
// element was created, a take if its client deleted an element's znode after the call. The order of
// the queue is the order of the creates. If an element was removed and no call returned it,
// delivery is violated; the history may be linearizable all the same.
//
// A client may remove an element and store it again before any take returned it: then it was put
// back and is no duplicate. Meanwhile younger elements may overtake it, so it is left out of
// linearizability. Order is then judged for its first stay in the queue, in which no element may
// overtake it, and for its last removal, at which it may overtake no element.
//
// porcupine decides linearizability. If it finds no order, the explanation is one of four
// impossible patterns, if the history has one: an element that was taken twice, one that was never
// offered, two that were taken in the wrong order, and an empty answer while an element was in the
// queue (Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", CONCUR 2013).
// The patterns alone judge the effects that the model leaves out: elements that were put back,
// repetitions, and stale reads.
//
// Several offers may have the same element. Then such elements are counted: at least the
// acknowledged number must be in the queue or delivered, and no more than the offered number may be
// delivered. Which of them leaves first is not judged, so the patterns of order and of empty
// answers leave them out, and porcupine judges the values.
type Claims struct {
	// Path is the directory of all of the queue's znodes, empty for every znode.
	Path string
	// Items is the directory of the elements' znodes; empty means Path. Watches on it that are left
	// at rest are not judged.
	Items string
	// Element returns the element in a znode's data, and false if there is none. Nil means that the
	// data is the element.
	Element func(data string) (string, bool)

	// MayLose and MayDuplicate: the queue delivers an element at most once, or at least once.
	// Without either it promises exactly once. Allowed losses and duplicates are only reported. An
	// acknowledged offer that has stored nothing is a loss that no claim allows.
	MayLose, MayDuplicate bool
	// Unordered: the queue does not claim to be FIFO. Only delivery, liveness and orphans are
	// judged.
	Unordered bool
	// MayOvertake: a take from a ranked queue may pass over elements that are offered while it is
	// under way, and after the element that it takes was stored: a take that lists the elements
	// sees this one and all that were stored before it. Such a take has no single moment of effect.
	// If the search finds no order, linearizability rests on the four patterns.
	MayOvertake bool
	// StaleReads: empty polls and peeks may be answered by a server that lags behind. Each must fit
	// some state between the client's own last change and its return. Linearizability leaves them
	// out.
	StaleReads bool
	// Patience limits the time for which a take may overlook an element. Liveness is violated if a
	// take failed ([lin.OpFailed]) although one znode of an element was in the queue for that long,
	// up to its return. It is also violated if a take removed an element after that long, unless
	// the client learned of a loss during the call. The time counts from the call, from the last
	// notice to the client, and from the last begin or end of a session of the client, and not
	// while the client is disconnected (see [lin.Connected]). It must be longer than any fault, or
	// claim of another client, can block a take. 0 means that this is not judged; without the
	// server's log it never is.
	Patience time.Duration
	// AllowedAtRest are patterns (path.Match) of bookkeeping znodes that may stay. Elements in the
	// queue and the directories above them always may.
	AllowedAtRest []string
}

// Properties implements [lin.Claims].
func (claims Claims) Properties() []string {
	if claims.Unordered {
		return []string{lin.Delivery, lin.Liveness, lin.Orphans}
	}
	return []string{lin.Linearizability, lin.Order, lin.Delivery, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Claims) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	return claims.named(h, func(c Claims) lin.Report {
		t := newTable(h, c)
		return judge(t, left, fifoModel, eventsOf(t), "FIFO queue")
	})
}

// named is the report of a judge of a kind of queue. It names the claims that allow the violations.
func (claims Claims) named(h lin.History, judge func(Claims) lin.Report) lin.Report {
	claims.StaleReads = judging.StaleReads(h, claims.StaleReads)
	r := judge(claims)
	if r.Status() != lin.Violated {
		return r
	}
	if weaker := claims; !claims.StaleReads && judging.StaleReads(h, true) {
		weaker.StaleReads = true
		judging.NameAllowed(&r, "StaleReads", judge(weaker))
	}
	if weaker := claims; !claims.MayLose {
		weaker.MayLose = true
		judging.NameAllowed(&r, "MayLose", judge(weaker))
	}
	return r
}

// judge judges a queue by the model of its events.
func judge[S comparable, O any](
	t table, left *lin.Leftovers, model judging.Model[S, O], events []judging.Event[O], noun string,
) lin.Report {
	r := lin.Report{Linearize: judging.Linearizer(model, events)}
	if !t.claims.Unordered {
		r.Add(judgeLinearizability(t, model, events, noun), judgeOrder(t))
	}
	r.Add(judgeElements(t, &r, left))
	judging.Prefer(&r, lin.Order, tooEarly)
	judging.Prefer(&r, lin.Delivery, ", and nobody ever got the element")
	t.nameGreedyTakes(&r)
	r.Add(judgeLiveness(t, left)...)
	if left != nil {
		r.Add(judging.Orphans(t.withoutElementWatches(left), t.claims.AllowedAtRest,
			orphansOf(t, left), judging.Waits(t.history)))
	}
	return r
}

// itemsDir is the directory of the elements.
func (claims Claims) itemsDir() string { return cmp.Or(claims.Items, claims.Path) }

// elementIn returns the element that a znode stands for.
func (claims Claims) elementIn(path, data string) (string, bool) {
	dir := claims.itemsDir()
	if !judging.Below(dir, path) {
		return "", false
	}
	if dir != "" && strings.Contains(path[len(strings.TrimSuffix(dir, "/"))+1:], "/") {
		return "", false // not a child
	}
	if claims.Element != nil {
		return claims.Element(data)
	}
	return data, true
}
