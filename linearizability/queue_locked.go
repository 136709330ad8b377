package linearizability

import (
	"slices"
	"time"
)

// KindAck is the operation of a consumer that is done with an element of a queue
// with locks; Input is the element. [KindRelease] gives it back.
const KindAck = "ack"

// LockQueue say what a queue claims to be that keeps each element until it
// is acknowledged.
type LockQueue struct {
	// Queue says where it is. MayLose, MayDuplicate and StaleReads mean nothing here;
	// Unordered: the oldest element need not be delivered first.
	Queue
	// Lock returns the path of the lock of the element stored at a path. The lock
	// is the ephemeral znode of whoever the element was delivered to.
	Lock func(item string) string
}

// JudgeLockQueue judges the history of one queue that delivers at least once:
// operations of the kinds [KindOffer], [KindPoll], [KindTake], [KindAck] and
// [KindRelease]; others are ignored. Rest may be nil. It panics if two offers have
// the same element.
//
//   - safety: a take that returned an element had its lock, and the lock goes with
//     its session or because its owner acknowledges or gives back;
//   - order: no take passes over an older element that was there, and not locked,
//     from the call to the lock; no answer is empty while one was there all the time;
//   - delivery: an element leaves the queue because somebody acknowledges it who
//     was given it, once; what was acknowledged has left and does not come again;
//   - liveness: no take waits, or gives up, beside an element that is not locked;
//   - orphans: no lock is left that nobody holds.
//
// All but delivery needs the server's log or a rest.
func (opts LockQueue) judge(h History, rest *Leftovers) Report {
	c := newLockQueueCase(h, opts)
	var r Report
	delivery := c.judgeDelivery(&r, rest)
	if delivery.Status != Violated {
		delivery = c.judgeAcks(delivery)
	}
	r.Verdicts = append(r.Verdicts, c.judgeLocks())
	if !opts.Unordered {
		r.Verdicts = append(r.Verdicts, c.judgeTurns())
	}
	r.Verdicts = append(r.Verdicts, delivery)
	r.Verdicts = append(r.Verdicts, c.judgeWaits(rest)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(c.withoutMissed(rest), opts.AllowedAtRest, c.leftover(rest), c.mayWatch))
	}
	return r
}

// lockQueueCase is a queue's history with the locks of its elements.
type lockQueueCase struct {
	*queueCase
	deliveries []*delivery
	locks      map[*life][]*life // of a stored element, by age
}

// delivery is an element in the hands of one client.
type delivery struct {
	take *Op
	e    *element
	lock *life // nil if there was none, or it is not known
	end  *Op   // the first ack or release after it; nil if there was none
}

func newLockQueueCase(h History, opts LockQueue) *lockQueueCase {
	c := &lockQueueCase{locks: map[*life][]*life{}}
	opts.MayLose, opts.MayDuplicate = false, true
	c.queueCase = newQueueCase(h, opts.Queue)
	for _, e := range c.elements {
		for _, l := range e.lives {
			path := opts.Lock(l.path)
			for _, lock := range c.log.lives {
				if lock.path == path && lock.owner != 0 {
					c.locks[l] = append(c.locks[l], lock)
				}
			}
		}
	}
	c.free = c.notLocked
	c.gatherDeliveries()
	return c
}

// notLocked reports whether no lock was on an element at a step, and the time
// since which there was none.
func (c *lockQueueCase) notLocked(l *life, step int64) (since time.Duration, ok bool) {
	for _, lock := range c.locks[l] {
		if lock.aliveAt(step) {
			return 0, false
		}
		if lock.died <= step {
			since = max(since, lock.diedTime)
		}
	}
	return since, true
}

// gatherDeliveries finds for each take that returned an element the lock and the
// end.
func (c *lockQueueCase) gatherDeliveries() {
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		if !isTake(op) || !op.ok() || op.Empty || c.byValue[op.Output] == nil {
			continue
		}
		d := &delivery{take: op, e: c.byValue[op.Output]}
		for _, item := range d.e.lives {
			for _, lock := range c.locks[item] {
				token := op.Token == 0 || op.Token == lock.czxid
				if lock.creator == op.Client && lock.born <= op.Return && lock.died >= op.Call && token {
					d.lock = lock
				}
			}
		}
		d.end = c.endOf(op)
		c.deliveries = append(c.deliveries, d)
	}
}

// endOf returns the ack, release or close that ends the delivery of a take.
func (c *lockQueueCase) endOf(take *Op) *Op {
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		ends := (op.Kind == KindAck || op.Kind == KindRelease) && op.Input == take.Output || op.Kind == KindClose
		if ends && op.Client == take.Client && op.Call > take.Return {
			return op
		}
	}
	return nil
}

// mayEnd reports whether the client had a reason to delete the lock: the end of the
// delivery, or a close that was under way when it got the element, and whose clean-up
// can go on after an error.
func (c *lockQueueCase) mayEnd(d *delivery) bool {
	if d.end != nil && d.end.Call <= d.lock.died {
		return true
	}
	return slices.ContainsFunc(c.history.Ops, func(op Op) bool {
		return op.Kind == KindClose && op.Client == d.take.Client && op.Call < d.take.Return && op.end() > d.take.Return &&
			(!op.ok() || d.lock.died <= op.end())
	})
}

// judgeLocks asks of each delivery for its lock, and of each lock why it went.
func (c *lockQueueCase) judgeLocks() Verdict {
	if !c.log.known {
		return fine(Safety, "who held which lock is not known")
	}
	for _, d := range c.deliveries {
		switch {
		case d.lock == nil:
			return violated(Safety, []int64{d.take.Call, d.take.Return}, "%s returned element %s without a lock on it", describe(*d.take), d.e.value)
		case d.lock.died == never || d.lock.withSession || d.lock.remover == d.take.Client && c.mayEnd(d):
			continue
		case d.lock.remover != d.take.Client:
			return violated(Safety, []int64{d.take.Return, d.lock.died}, "%s deleted %s at step %d, the lock of %s on element %s, got by %s",
				ownerOr(d.lock.remover, "the server"), d.lock.path, d.lock.died, d.take.Client, d.e.value, describe(*d.take))
		}
		return violated(Safety, []int64{d.take.Return, d.lock.died}, "%s gave up %s at step %d, its lock on element %s, neither done with it nor asked to",
			d.take.Client, d.lock.path, d.lock.died, d.e.value)
	}
	return fine(Safety, "every element delivered was locked")
}

// judgeWaits is judgeLiveness for calls of all kinds: none may wait to end a
// delivery.
func (c *lockQueueCase) judgeWaits(rest *Leftovers) []Verdict {
	for _, op := range c.history.pendingOps(KindAck, KindRelease) {
		if rest != nil {
			return []Verdict{violated(Liveness, []int64{op.Call}, "%s never returned, although the faults stopped", describe(op))}
		}
	}
	return c.judgeLiveness(rest)
}

// holds reports whether the client was given an element and has not begun to end
// that.
func (c *lockQueueCase) holds(client string) bool {
	return slices.ContainsFunc(c.deliveries, func(d *delivery) bool { return d.take.Client == client && d.end == nil })
}

// mayWatch reports whether the client waits, or holds an element.
func (c *lockQueueCase) mayWatch(client string) bool {
	return c.history.waits(client) || c.holds(client)
}

// leftover leaves out the locks of those who hold something.
func (c *lockQueueCase) leftover(rest *Leftovers) []orphan {
	return slices.DeleteFunc(c.queueCase.leftover(rest), func(o orphan) bool {
		for _, d := range c.deliveries {
			if d.end == nil && d.lock != nil && d.lock.czxid == o.node.Czxid {
				return true
			}
		}
		return false
	})
}
