package recipes

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// LockQueue is a first-in-first-out queue that keeps an element until its consumer has acknowledged
// it, and hands it to another consumer if the first dies before that. Methods may be called from
// several goroutines.
//
// Delivery is AT LEAST ONCE: after its Offer returned nil, an element is handed out until a
// Delivery of it is acknowledged, and never again after that.
//
// It guarantees, for each call:
//
//   - Offer that returns nil has appended the element exactly once. After an error that wraps
//     ErrAmbiguous it has appended the element once or not at all, after any other error not at
//     all. ErrNumbersUsedUp says that there is no place left behind the elements that are there.
//   - Take and Poll return the oldest element that is not held. No other consumer gets it while the
//     session lives in which it was delivered, until Ack, Release or Close. A call that returns an
//     error holds nothing: it unlocks the elements that it has locked on its way, in the background
//     if need be.
//   - Ack that returns nil has removed the element, and no other consumer was given it between Take
//     and Ack: at most one delivery of an element is acknowledged. ErrDeliveryLost says that
//     another consumer was given it.
//   - false from Poll means that at some moment of the call there was no element, or each one was
//     held.
//
// When the connection is lost, calls wait for it. When the session ends, its elements can be handed
// to other consumers at once: Lost of the Delivery is closed as soon as the client learns of that,
// and when the connection stays down before it can happen, as SessionTimeout says. A done context
// ends a call; see the package comment.
//
// It cannot guarantee exactly-once processing. A consumer that is paused beyond the end of its
// session works on beside the next one, and one that dies after its work but before Ack leaves the
// element to be worked on again. Make the work idempotent, or pass Token to the resource and let it
// refuse smaller tokens for the same element. Each Offer, Ack and Release wakes all waiting
// consumers. An Offer can leave <path>/dedup/<guid>; see Queue.
//
// Layout:
//
//	<path>/items/_c_<guid>-item-<sequence>       the elements, persistent, data = payload,
//	                                             data version = number of deliveries
//	<path>/items/_c_<guid>-item-<sequence>-lock  its lock, ephemeral, data = GUID of the delivery
//	<path>/dedup/<guid>                          an Offer under way, persistent, no data
//
// The locks are beside the elements and not in their own directory, so that one list shows both as
// they were at one moment. Other children of items are ignored.
//
// Sources: Curator's DistributedQueue with a lock path, and kazoo's LockingQueue. Both delete by
// name a node that may belong to another consumer by then.
type LockQueue struct {
	*lifecycle
	store *claimQueue

	mu   sync.Mutex
	held []*Delivery // not over
}

// ErrDeliveryLost is returned by Ack when the element was given to another consumer, or has been
// removed.
var ErrDeliveryLost = errors.New("delivery is lost")

// lockSuffix stands after an element's name in that of its lock.
const lockSuffix = "-lock"

// NewLockQueue makes a handle for the queue at path, which is created when needed. It sends
// nothing. The options that matter are ACL, RecheckEvery, Retry, SessionTimeout,
// Containers and EphemeralElements.
func NewLockQueue(conn Conn, path string, opts ...Option) *LockQueue {
	store := newClaimQueue(conn, "lock queue", path, opts, unlocked)
	store.records = []string{"dedup"}
	return &LockQueue{lifecycle: store.lifecycle, store: store}
}

// unlocked is the arrangement of a queue with locks: the oldest first of those that are not locked.
func unlocked(names []string) lineup {
	locked := map[string]bool{}
	for _, name := range names {
		if item, ok := strings.CutSuffix(name, lockSuffix); ok {
			locked[item] = true
		}
	}
	var l lineup
	for _, n := range sortNumbered(names, itemMarker) {
		if !locked[n.name] {
			l.ready = append(l.ready, n.name)
		}
	}
	return l
}

// Offer appends an element; see Queue.Offer.
func (q *LockQueue) Offer(ctx context.Context, data []byte) error {
	return q.store.offerAs(ctx, "", data)
}

// Poll takes the first element that is not held, or returns false if there is none. The caller has
// to end the delivery by Ack or Release. After an error nothing is held, unless it wraps
// ErrAmbiguous: then a held element, if any, is given back in the background.
func (q *LockQueue) Poll(ctx context.Context) (d *Delivery, ok bool, err error) {
	d, err = q.deliver(ctx, "poll", func(context.Context, *requests) error { return errNothing })
	if errors.Is(err, errNothing) {
		return nil, false, nil
	}
	return d, err == nil, err
}

// Take takes the first element that is not held; it waits while there is none. The rest is as with
// Poll.
func (q *LockQueue) Take(ctx context.Context) (*Delivery, error) {
	return q.deliver(ctx, "take from", q.store.awaitChange)
}

// errNothing ends a Poll that has found nothing.
var errNothing = errors.New("nothing there")

// deliver locks the first element that can be locked. While there is none it calls idle.
func (q *LockQueue) deliver(
	ctx context.Context, what string, idle func(context.Context, *requests) error,
) (*Delivery, error) {
	return call(ctx, q.lifecycle, what, func(
		ctx context.Context, r *requests, t *task[*Delivery],
	) (*Delivery, error) {
		return withRestarts(ctx, func() (*Delivery, error) {
			for {
				d, err := q.lockFirst(ctx, r, t)
				if d != nil || err != nil {
					return d, err
				}
				if err := idle(ctx, r); err != nil {
					return nil, err
				}
			}
		})
	})
}

// lockFirst locks the first element that is not held, or returns nil if there is none. It
// synchronises first, so that it sees no lock that is gone.
func (q *LockQueue) lockFirst(
	ctx context.Context, r *requests, t *task[*Delivery],
) (*Delivery, error) {
	for {
		l, err := q.store.listSynced(ctx, r)
		if err != nil || len(l.ready) == 0 {
			return nil, err
		}
		for _, name := range l.ready {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			d, err := q.lockOne(ctx, r, t, name)
			if d != nil || err != nil {
				return d, err
			}
		}
	}
}

// lockOne locks one element, unless a rival has.
func (q *LockQueue) lockOne(
	ctx context.Context, r *requests, t *task[*Delivery], name string,
) (*Delivery, error) {
	guid, err := newGUID()
	if err != nil {
		return nil, err
	}
	d := &Delivery{q: q, guid: guid, item: q.store.item(name)}
	mine, err := d.lock(ctx, r)
	if err == nil && !mine {
		return nil, nil
	}
	if err == nil {
		err = d.confirm(ctx, r)
	}
	if err == nil {
		if q.keep(t, d) {
			return d, nil
		}
		err = q.cause(ctx)
	}
	return nil, giveBack(r, err, d.unlock)
}

// keep hands a delivery to its caller. It returns false, and the lock must be given back, if the
// caller has left or the queue was closed meanwhile.
func (q *LockQueue) keep(t *task[*Delivery], d *Delivery) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed() || !t.settle(d) {
		return false
	}
	q.held = append(q.held, d)
	q.watchOver(d.hold)
	return true
}

// Close ends the calls under way with ErrClosed, gives back all deliveries that were neither
// acknowledged nor released, and waits until nothing is left to clean up or ctx is done; in the
// latter case that goes on. Later calls return ErrClosed. It leaves the Conn and the elements
// alone. It returns the first error by which a lock or a node of dedup could not be deleted.
func (q *LockQueue) Close(ctx context.Context) error {
	q.mu.Lock()
	q.kill(ErrClosed)
	held := q.held
	q.held = nil
	q.mu.Unlock()
	for _, d := range held {
		d.startRelease()
	}
	return q.lifecycle.Close(ctx)
}
