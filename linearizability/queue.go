package linearizability

import "time"

// Queue say what the queue claims to be. The zero value is a FIFO queue
// that delivers exactly once.
type Queue struct {
	// Path is the directory of all of the queue's znodes, empty for every znode.
	Path string
	// Items is the directory whose children are the elements; empty means Path.
	// Watches on it that are left at rest are not judged.
	Items string
	// Element returns the element that a znode's data stands for, and false if it
	// stands for none. Nil means that the data is the element.
	Element func(data string) (string, bool)

	// MayLose and MayDuplicate: the queue delivers an element at most once, or at
	// least once. Without either it promises exactly once. What is not promised is
	// only reported.
	MayLose, MayDuplicate bool
	// Unordered: the queue does not claim to be FIFO. Only delivery, liveness and
	// orphans are judged.
	Unordered bool
	// StaleReads: empty polls and peeks may be answered by a server that lags
	// behind. Each must fit some state between the client's own last change and
	// its return, and they are left out of linearizability.
	StaleReads bool
	// Patience is how long a take may overlook an element: a take that failed
	// ([OpFailed]) although one and the same znode of an element was in the queue
	// for that long, up to its return, is a violation of liveness, and so is one that
	// removed an element which had been there for that long, unless the client was
	// told of a loss during the call. The time counts
	// from the call, from the last notice to the client and from the last begin or
	// end of a session of the client, and not while the client is cut off (see
	// [Connected]). It must be longer than any fault, and any
	// claim of another client, may keep a taker from an element. 0 means that this
	// is not judged; without the server's log it never is.
	Patience time.Duration
	// AllowedAtRest are patterns (path.Match) of bookkeeping znodes that may stay.
	// Elements that nobody took and the directories above them always may.
	AllowedAtRest []string
}

// JudgeQueue judges the history of one queue: operations of the kinds
// [KindOffer], [KindPoll], [KindTake] and [KindPeek]; others are ignored. Rest
// may be nil. It panics if two offers have the same element.
//
// With the server's log every fate is known: an unknown offer took effect if a
// znode with its element was created, an unknown take if its client deleted an
// element's znode after the call. The order of the queue is that of the creates.
// An element that was removed without reaching any caller is lost: that is a
// matter of delivery, and the history may be linearizable all the same.
//
// An element that the client which removed it stored again, before any take
// returned it, was put back and is no duplicate. Meanwhile younger elements may
// overtake it, so it is left out of linearizability, and order is judged by its
// first stay (nobody may overtake it) and its last removal (it may overtake
// nobody).
//
// Four bad patterns that no queue can show are looked for first, since they make
// the best explanations: an element taken twice, an element nobody offered, two
// elements taken in the wrong order, and an empty answer while an element was
// there (Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability
// proofs", CONCUR 2013). porcupine decides the rest.
func (opts Queue) judge(h History, rest *Leftovers) Report {
	c := newQueueCase(h, opts)
	return judgeQueueAs(c, rest, queueObject, c.queueEvents(), "FIFO queue")
}

// judgeQueueAs judges a case by the model that its events are of.
func judgeQueueAs[S comparable, O any](c *queueCase, rest *Leftovers, o object[S, O], events []event[O], noun string) Report {
	r := Report{draw: drawer(o, events)}
	delivery := c.judgeDelivery(&r, rest)
	if !c.opts.Unordered {
		linear, bad := c.badPattern()
		if !bad {
			linear = judge(o, events, noun, patience)
		}
		r.Verdicts = append(r.Verdicts, linear, c.judgeOrder())
	}
	r.Verdicts = append(r.Verdicts, delivery)
	r.Verdicts = append(r.Verdicts, c.judgeLiveness(rest)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(c.withoutMissed(rest), c.opts.AllowedAtRest, c.leftover(rest), c.history.waits))
	}
	return r
}
