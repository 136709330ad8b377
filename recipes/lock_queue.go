package recipes

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// LockQueue is a first-in-first-out queue. It keeps an element until a consumer has acknowledged
// it. If the consumer dies first, another one gets the element. Methods may be called from several
// goroutines.
//
// Delivery is AT LEAST ONCE: an element whose Offer has returned nil is handed out again and again
// until a Delivery of it is acknowledged, and never after that.
//
// It guarantees, for each call:
//
//   - An Offer that returns nil has appended the element exactly once. After an error that wraps
//     ErrAmbiguous it has appended the element once or not at all; after any other error it has
//     not. ErrNumbersUsedUp says that the directory has no sequence number left for another
//     element.
//   - Take and Poll return the oldest element that is not held. Until Ack, Release or Close no
//     other consumer gets it while the session of the delivery lives. A call that returns an error
//     holds nothing: it unlocks the elements that it has locked, in the background if need be.
//   - An Ack that returns nil has removed the element, and no other consumer has got it between
//     Take and Ack. At most one delivery of an element is acknowledged. ErrDeliveryLost says that
//     the element was delivered again or removed.
//   - false from Poll means that at some moment of the call every element was held, or there was
//     none.
//
// When the connection is lost, calls wait for it. When the session ends, other consumers can get
// its elements at once, and Lost of the Delivery is closed as soon as the client learns of the end.
// When the connection stays down, Lost is closed before the session can be over, as SessionTimeout
// says. A done context ends a call; see the package comment.
//
// It cannot guarantee exactly-once processing. A consumer that is paused beyond the end of its
// session may work on the element at the same time as the next one. If a consumer dies between its
// work and Ack, another one repeats the work. Make the work idempotent, or pass Token to the
// resource and let it refuse smaller tokens for the same element. Each Offer, Ack and Release wakes
// all waiting consumers. An Offer can leave <path>/dedup/<guid>; see Queue.
//
// Layout:
//
//	<path>/items/_c_<guid>-item-<sequence>       the elements, persistent, data = payload,
//	                                             data version = number of deliveries
//	<path>/items/_c_<guid>-item-<sequence>-lock  its lock, ephemeral, data = GUID of the delivery
//	<path>/dedup/<guid>                          an Offer under way, persistent, no data
//
// The locks have no directory of their own: one list of items shows the elements and the locks as
// of one moment. Other children of items are ignored.
//
// Sources: Curator's DistributedQueue with a lock path, and kazoo's LockingQueue. Both delete nodes
// by name, and can delete one that belongs to another consumer by then.
type LockQueue struct {
	lifecycle
	store *claimQueue

	mu   sync.Mutex
	held []*Delivery // not over
}

// ErrDeliveryLost is returned by Ack when the element was delivered again or was removed.
var ErrDeliveryLost = errors.New("delivery is lost")

// lockSuffix follows the element's name in the name of its lock.
const lockSuffix = "-lock"

// NewLockQueue makes a handle for the queue at path, which is created when needed. It sends
// nothing. The options that matter are ACL, RecheckEvery, Retry, SessionTimeout,
// Containers and EphemeralElements.
func NewLockQueue(conn Conn, path string, opts ...Option) *LockQueue {
	store := newClaimQueue(conn, "lock queue", path, opts, unlocked)
	store.records = []string{"dedup"}
	return &LockQueue{lifecycle: store.lifecycle, store: store}
}

// unlocked returns the elements without a lock, oldest first.
func unlocked(names []string) elementOrder {
	locked := map[string]bool{}
	for _, name := range names {
		if item, ok := strings.CutSuffix(name, lockSuffix); ok {
			locked[item] = true
		}
	}
	var l elementOrder
	for _, n := range request.SortNumbered(names, itemMarker) {
		if !locked[n.Name] {
			l.ready = append(l.ready, n.Name)
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
	d, err = q.deliver(ctx, "poll", nil)
	if errors.Is(err, errNothing) {
		return nil, false, nil
	}
	return d, err == nil, err
}

// Take is Poll that waits while there is no such element.
func (q *LockQueue) Take(ctx context.Context) (*Delivery, error) {
	return q.deliver(ctx, "take from", q.store.awaitChange)
}

// errNothing ends a Poll that has found nothing.
var errNothing = errors.New("nothing there")

// deliver locks the first element that can be locked. While there is none it waits. Without wait it
// ends with errNothing if there is none in a list that is as new as the call.
func (q *LockQueue) deliver(
	ctx context.Context, what string, wait func(*request.Sender) error,
) (*Delivery, error) {
	return task.Call(ctx, q.tasks, what, func(
		r *request.Sender, t *task.Task[*Delivery],
	) (*Delivery, error) {
		return request.WithRestarts(r, func() (*Delivery, error) {
			list, confirmed := q.store.listSynced, false
			for {
				d, err := q.lockFirst(r, t, list)
				switch {
				case d != nil || err != nil:
					return d, err
				case wait != nil:
					err = wait(r)
				case confirmed:
					err = errNothing
				}
				if err != nil {
					return nil, err
				}
				if wait == nil {
					list, confirmed = q.store.listConfirmed, true
				}
			}
		})
	})
}

// lockFirst locks the first element of a list that is not held, or returns nil if there is none.
// The list comes after a sync, so that it shows no removed locks.
func (q *LockQueue) lockFirst(
	r *request.Sender, t *task.Task[*Delivery], list func(*request.Sender) (elementOrder, error),
) (*Delivery, error) {
	for {
		l, err := list(r)
		if err != nil || len(l.ready) == 0 {
			return nil, err
		}
		for _, name := range l.ready {
			if err := r.Over(); err != nil {
				return nil, err
			}
			d, err := q.lockOne(r, t, name)
			if d != nil || err != nil {
				return d, err
			}
		}
	}
}

// lockOne locks one element. It returns nil if a rival has locked or removed it.
func (q *LockQueue) lockOne(
	r *request.Sender, t *task.Task[*Delivery], name string,
) (*Delivery, error) {
	guid, err := request.NewGUID()
	if err != nil {
		return nil, err
	}
	d := &Delivery{q: q, guid: guid, item: q.store.item(name)}
	mine, err := d.lock(r)
	if err == nil && !mine {
		return nil, nil
	}
	if err == nil {
		err = d.confirm(r)
	}
	if err == nil {
		if task.Keep(q.tasks, &q.mu, t, d, func() {
			q.held = append(q.held, d)
			d.hold.WatchOver(q.tasks)
		}) {
			return d, nil
		}
		err = q.tasks.Cause(r.Ctx)
	}
	return nil, request.GiveBack(r, err, d.unlock)
}

// Close ends the calls under way with ErrClosed, gives back all deliveries that were neither
// acknowledged nor released, and waits until nothing is left to clean up or ctx is done; in the
// latter case the clean-up goes on. Later calls return ErrClosed. The Conn stays open and the
// elements stay in the queue. Close returns the first error that kept a lock or a node of dedup
// from being deleted.
func (q *LockQueue) Close(ctx context.Context) error {
	q.mu.Lock()
	q.tasks.Cancel(ErrClosed)
	held := q.held
	q.held = nil
	q.mu.Unlock()
	for _, d := range held {
		d.startRelease()
	}
	return q.tasks.Close(ctx)
}
