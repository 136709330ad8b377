package queue

import (
	"fmt"
	"slices"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// Locked claims to be a queue that keeps each element until it is acknowledged, and delivers it
// at least once. Its calls are [ops.Offer], [ops.Poll], [ops.Take], [ops.Ack] and [ops.Release]. No
// two offers may have the same element.
//
//   - Safety: a take that returned an element had its lock. The lock ends with the session of its
//     owner, or by an ack or release of its owner.
//   - Order: no take passes over an older element that was free (stored and not locked) from the
//     call to the lock; no answer is empty while an element was free all the time.
//   - Delivery: an element leaves the queue by one ack of a client that received it. After the ack
//     it is not in the queue, and is not delivered again.
//   - Liveness: no take waits, or gives up, beside an element that is not locked.
//   - Orphans: no lock is left without a holder.
//
// All but delivery needs the server's log or leftovers.
type Locked struct {
	// Claims has the paths. MayLose, MayDuplicate and StaleReads have no effect. With Unordered the
	// oldest element need not be delivered first.
	Claims
	// Lock returns the path of the lock of the element stored at a path. The lock is the ephemeral
	// znode of the client that the element was delivered to.
	Lock func(item string) string
	// ComesBack: a delivery ends by itself after this time, as with a visibility timeout, and has
	// no lock. Then Lock is not used and order is not judged. Safety means that no element is
	// delivered twice within the time, unless the first delivery was acknowledged or released. 0
	// means that deliveries have locks.
	ComesBack time.Duration
}

// Properties implements [lin.Claims].
func (claims Locked) Properties() []string {
	list := []string{lin.Safety, lin.Order, lin.Delivery, lin.Liveness, lin.Orphans}
	if claims.Unordered || claims.ComesBack > 0 {
		return slices.Delete(list, 1, 2)
	}
	return list
}

// Judge implements [lin.Claims].
func (claims Locked) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	t := newLockedTable(h, claims)
	var r lin.Report
	delivery := judgeElements(t.table, &r, left)
	if v, bad := badAck(t); bad && delivery.Status != lin.Violated {
		delivery = v
	}
	r.Add(delivery)
	switch {
	case claims.ComesBack > 0:
		r.Add(judgeComingBack(t, claims.ComesBack))
	case t.log.Known:
		r.Add(judgeElementLocks(t))
		if !claims.Unordered {
			r.Add(judgeLockedOrder(t))
		}
	}
	r.Add(judgeLockedLiveness(t, left)...)
	if left != nil {
		mayWatch := func(client string) bool { return judging.Waits(h)(client) || t.holds(client) }
		r.Add(judging.Orphans(t.withoutElementWatches(left), claims.AllowedAtRest,
			lockedOrphans(t, left), mayWatch))
	}
	return r
}

// lockedTable is the table of a queue, and the locks of its elements.
type lockedTable struct {
	table
	deliveries []delivery
	locks      map[*judging.Znode][]*judging.Znode // by stored element, oldest first
}

// delivery is the delivery of an element to one client.
type delivery struct {
	take    *lin.Op
	element *element
	lock    *judging.Znode // nil if there was none, or it is not known
	end     *lin.Op        // the first ack, release or close after it; nil if there was none
}

func newLockedTable(h lin.History, claims Locked) lockedTable {
	claims.MayLose, claims.MayDuplicate = false, true
	t := lockedTable{table: newTable(h, claims.Claims),
		locks: map[*judging.Znode][]*judging.Znode{}}
	for _, e := range t.elements {
		if e.isRepeated() {
			panic(fmt.Sprintf("linearizability: element %q is offered at steps %d and %d; "+
				"elements of a queue with locks must be unique", e.value, e.offer.Call,
				e.equals[1].offer.Call))
		}
		for _, z := range e.znodes {
			if claims.ComesBack > 0 {
				break // there are no locks
			}
			path := claims.Lock(z.Path)
			for _, lock := range t.log.Znodes {
				if lock.Path == path && lock.Owner != 0 {
					t.locks[z] = append(t.locks[z], lock)
				}
			}
		}
	}
	t.free = t.notLocked
	if claims.ComesBack > 0 {
		t.free = t.notHidden(claims.ComesBack)
	}
	t.deliveries = findDeliveries(t)
	return t
}

// notLocked reports whether an element was not locked at a step, and since which time.
func (t lockedTable) notLocked(z *judging.Znode, step int64) (since time.Duration, ok bool) {
	for _, lock := range t.locks[z] {
		if lock.ExistsAt(step) {
			return 0, false
		}
		if lock.Deleted <= step {
			since = max(since, lock.DeletedTime)
		}
	}
	return since, true
}

// findDeliveries finds the lock and the end of each take that returned an element.
func findDeliveries(t lockedTable) []delivery {
	var list []delivery
	for i := range t.history.Ops {
		op := &t.history.Ops[i]
		if !isTake(op) || !op.OK() || op.Empty || t.taken[op] == nil {
			continue
		}
		d := delivery{
			take: op, element: t.taken[op], end: endOfDelivery(t.history.Ops, op),
		}
		for _, item := range d.element.znodes {
			for _, lock := range t.locks[item] {
				if lock.Creator == op.Client && lock.Created <= op.Return &&
					lock.Deleted >= op.Call &&
					(op.Token == 0 || op.Token == lock.Czxid) {
					d.lock = lock
				}
			}
		}
		list = append(list, d)
	}
	return list
}

// endOfDelivery returns the ack, release or close that ends the delivery of a take.
func endOfDelivery(calls []lin.Op, take *lin.Op) *lin.Op {
	for i := range calls {
		op := &calls[i]
		ends := op.Kind == ops.Close ||
			(op.Kind == ops.Ack || op.Kind == ops.Release) && op.Input == take.Output
		if ends && op.Client == take.Client && op.Call > take.Return {
			return op
		}
	}
	return nil
}

// judgeElementLocks checks that each delivery had its lock, and that each lock was deleted for a
// reason.
func judgeElementLocks(t lockedTable) lin.Verdict {
	for _, d := range t.deliveries {
		switch {
		case d.lock == nil:
			return judging.Violated(lin.Safety, []int64{d.take.Call, d.take.Return},
				"%s returned element %s without a lock on it%s", judging.Describe(*d.take),
				d.element.value, t.withoutLocks())
		case d.lock.Deleted == judging.Never || d.lock.WithSession ||
			d.lock.Remover == d.take.Client && mayEnd(t.history.Ops, d):
			continue
		case d.lock.Remover != d.take.Client:
			return judging.Violated(lin.Safety, []int64{d.take.Return, d.lock.Deleted},
				"%s deleted %s at step %d%s, the lock of %s on element %s, got by %s",
				d.lock.RemovedByWhom(), d.lock.Path, d.lock.Deleted, judging.During(t.history,
					lin.ServerEvent{Client: d.lock.Remover, Step: d.lock.Deleted}),
				d.take.Client, d.element.value, judging.Describe(*d.take))
		}
		return judging.Violated(lin.Safety, []int64{d.take.Return, d.lock.Deleted},
			"%s gave up %s at step %d, its lock on element %s, neither done with it nor asked to",
			d.take.Client, d.lock.Path, d.lock.Deleted, d.element.value)
	}
	return judging.Fine(lin.Safety, "every element delivered was locked")
}

// withoutLocks adds a way out to a verdict if no element ever had a lock.
func (t lockedTable) withoutLocks() string {
	if len(t.locks) > 0 {
		return ""
	}
	return "; no element ever had one (if deliveries end by themselves after a time, claim ComesBack)"
}

// mayEnd reports whether the client had a reason to delete the lock: the end of the delivery, an
// ack or release of the element by another of its goroutines, to which it was delivered, too, or a
// close that was under way when it got the element. The clean-up of a close can go on after an
// error.
func mayEnd(calls []lin.Op, d delivery) bool {
	if d.end != nil && d.end.Call <= d.lock.Deleted {
		return true
	}
	if slices.ContainsFunc(calls, func(op lin.Op) bool { // by another goroutine of the client
		return (op.Kind == ops.Ack || op.Kind == ops.Release) && op.Client == d.take.Client &&
			op.Input == d.element.value && op.Call > d.lock.Created && couldRemove(op, d.lock)
	}) {
		return true
	}
	return slices.ContainsFunc(calls, func(op lin.Op) bool {
		return op.Kind == ops.Close && op.Client == d.take.Client && op.Call < d.take.Return &&
			judging.End(op) > d.take.Return && (!op.OK() || d.lock.Deleted <= judging.End(op))
	})
}
