package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"
)

// Delivery is an element of a LockQueue that one consumer holds. It ends with the first of Ack,
// Release, the queue's Close and the end of the session. Its methods may be called from several
// goroutines.
type Delivery struct {
	q    *LockQueue
	guid string
	item string // path
	data []byte
	// version is the element's version since the delivery. As long as it is the same, no other
	// consumer got the element.
	version int32
	mayHold bool // there may be a lock
	hold    *hold

	mu       sync.Mutex
	removing bool            // a removal may have been applied
	released *task[struct{}] // nil: not yet
}

// Data returns the element's payload.
func (d *Delivery) Data() []byte { return d.data }

// Attempt is the number of deliveries of the element, this one included: more than 1 means that
// another consumer may have worked on it before. The count wraps after 2^31.
func (d *Delivery) Attempt() int32 { return d.version }

// Token returns the fencing token of the delivery, greater for each later delivery of any element:
// the czxid of the lock.
func (d *Delivery) Token() int64 { return d.hold.token }

// Lost returns a channel that is closed when the delivery has ended: another consumer may have the
// element. It is a hint, and can come late: see the limits in the package comment.
func (d *Delivery) Lost() <-chan struct{} { return d.hold.ended }

func (d *Delivery) lockPath() string { return d.item + lockSuffix }

// lock locks the element and counts the delivery, in one transaction, and reports whether this
// delivery did. A repetition tells: the lock bears its GUID.
func (d *Delivery) lock(ctx context.Context, r *requests) (mine bool, err error) {
	data, stat, err := r.get(ctx, d.item)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d.data, d.version = data, stat.Version+1
	ops := []any{
		&zk.CreateRequest{
			Path: d.lockPath(), Data: []byte(d.guid), Acl: d.q.opts.acl, Flags: zk.FlagEphemeral,
		},
		&zk.SetDataRequest{Path: d.item, Data: data, Version: stat.Version},
	}
	if d.version == -1 { // it would mean any version to Ack and Release
		d.version = 0
		ops = append(ops, &zk.SetDataRequest{Path: d.item, Data: data, Version: -1})
	}
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		failed, err := r.multi(ops...)
		d.mayHold = d.mayHold || OutcomeOf(err) == Unknown
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return d.isMine(ctx, r)
		case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrBadVersion):
			return false, nil // taken and given back, or gone, or its directory is
		case transient(err):
			err = r.again(ctx, err)
		}
		if err != nil {
			return false, err
		}
	}
}

// isMine reports whether the lock belongs to this delivery.
func (d *Delivery) isMine(ctx context.Context, r *requests) (bool, error) {
	owner, _, err := r.get(ctx, d.lockPath())
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil && string(owner) == d.guid, err
}

// confirm makes sure that the lock belongs to the present session, and watches it. It returns
// errRestart if it does not.
func (d *Delivery) confirm(ctx context.Context, r *requests) error {
	d.mayHold = true
	own, err := r.getW(ctx, d.lockPath())
	switch {
	case errors.Is(err, zk.ErrNoNode), err == nil && string(own.data) != d.guid:
		return errRestart
	case err != nil:
		return err
	}
	d.hold, err = holdOf(r, d.lockPath(), own, d.unlock)
	return err
}

// Ack removes the element, as the consumer is done with it. It returns nil when it has been
// removed, and ErrDeliveryLost, with nothing changed, if it was given to another consumer. While
// the connection is down it tries again until ctx is done. Also after the end of the session it
// succeeds if no other consumer was given the element.
//
// After an error that wraps ErrAmbiguous the element may have been removed; after any other error
// it has not been, and Ack may be called again as long as the delivery lasts. An error that wraps
// both ErrAmbiguous and ErrDeliveryLost says that the element is gone, removed by this consumer or,
// after it was given to another one, by that one.
func (d *Delivery) Ack(ctx context.Context) error {
	_, known, err := run(ctx, d.q.lifecycle, func(
		ctx context.Context, r *requests, _ *task[struct{}],
	) (struct{}, error) {
		return struct{}{}, d.ack(ctx, r)
	})
	lost := errors.Is(err, ErrDeliveryLost)
	if err == nil || lost {
		d.end()
	}
	return d.q.explain("acknowledge", doubtOf(!known || !lost && d.mayBeRemoved(), err))
}

// ack removes the element and its lock together, or, when the lock has gone with its session, the
// element alone. Either is refused if the element was given to another consumer. mayBeRemoved tells
// whether an error leaves a doubt.
func (d *Delivery) ack(ctx context.Context, r *requests) error {
	e := epoch{d.q.conn, d.hold.session}
	ops := []any{
		&zk.DeleteRequest{Path: d.item, Version: d.version}, &zk.DeleteRequest{
			Path: d.lockPath(), Version: -1,
		},
	}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed, err := r.multi(ops...)
		d.note(OutcomeOf(err))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNoNode) && failed == 0 && d.mayBeRemoved() && e.check() == nil:
			return nil // it was locked all the time
		case errors.Is(err, zk.ErrNoNode) && failed == 0:
			return doubtOf(d.mayBeRemoved(), ErrDeliveryLost)
		case errors.Is(err, zk.ErrBadVersion):
			return ErrDeliveryLost
		case errors.Is(err, zk.ErrNoNode):
			ops = ops[:1]
			continue
		case !transient(err):
			return err
		}
		if err := r.again(ctx, err); err != nil {
			return err
		}
	}
}

// note records the outcome of a removal.
func (d *Delivery) note(o Outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removing = d.removing || o != NotApplied
}

// mayBeRemoved reports whether a removal by this delivery may have been applied, including one by
// an abandoned Ack.
func (d *Delivery) mayBeRemoved() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.removing
}

// Release gives the element back to the queue, at its old place, without waiting for the end of the
// session. It does nothing if the delivery has ended. If ctx is done before the server has
// confirmed that, it returns an error after a moment, and goes on in the background.
func (d *Delivery) Release(ctx context.Context) error {
	_, known, err := d.startRelease().await(ctx)
	return d.q.explain("release to", doubtOf(!known || errors.Is(err, ErrConnClosed), err))
}

// startRelease begins to give the element back, once.
func (d *Delivery) startRelease() *task[struct{}] {
	d.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.released == nil {
		d.released = d.q.cleanUp(nil, d.unlock)
	}
	return d.released
}

// end closes Lost; the queue forgets the delivery.
func (d *Delivery) end() {
	d.hold.end()
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	d.q.held = slices.DeleteFunc(d.q.held, func(o *Delivery) bool { return o == d })
}

// unlock removes the lock if it belongs to this delivery, and returns only when the server has
// confirmed that it is not there any more, refuses, or the Conn is closed. The version tells the
// own lock from a later one of the same name.
func (d *Delivery) unlock(r *requests) error {
	if !d.mayHold {
		return nil
	}
	ctx := context.Background()
	err := r.sync(ctx, d.lockPath())
	mine := false
	if err == nil {
		mine, err = d.isMine(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("look at %s to delete it: %w", d.lockPath(), err)
	}
	if !mine {
		return nil
	}
	failed, err := r.repeatMulti(
		&zk.CheckVersionRequest{Path: d.item, Version: d.version},
		&zk.DeleteRequest{Path: d.lockPath(), Version: -1},
	)
	switch {
	case errors.Is(err, zk.ErrNoNode) && failed == 0:
		return r.remove(d.lockPath()) // the element is gone, and its name with it
	case err == nil, errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrBadVersion):
		return nil
	}
	return fmt.Errorf("delete %s: %w", d.lockPath(), err)
}
