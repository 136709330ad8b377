package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Delivery is an element of a LockQueue in the hands of one consumer. It ends with a successful
// Ack, with Release, with Close of the queue or with the session. Its methods may be called from
// several goroutines.
type Delivery struct {
	q    *LockQueue
	guid string
	item string // path
	data []byte
	// version is the element's data version since the delivery. It changes when another consumer
	// gets the element.
	version int32
	mayHold bool // the lock of this delivery may exist
	hold    *hold.Hold

	mu       sync.Mutex
	removing bool                 // a removal may have been applied
	released *task.Task[struct{}] // nil: not yet
}

// Data returns the element's payload.
func (d *Delivery) Data() []byte { return d.data }

// Attempt returns the number of deliveries of the element, this one included. If it is more than 1,
// a consumer may have worked on the element before. The count wraps after 2^31.
func (d *Delivery) Attempt() int32 { return d.version }

// Token returns the fencing token of the delivery, greater for each later delivery of any element:
// the czxid of the lock.
func (d *Delivery) Token() int64 { return d.hold.Token }

// Lost returns a channel that is closed when the delivery has ended: another consumer may have the
// element. It is a hint, and can come late: see the limits in the package comment.
func (d *Delivery) Lost() <-chan struct{} { return d.hold.Ended }

func (d *Delivery) lockPath() string { return d.item + lockSuffix }

// lock locks the element and counts the delivery in one transaction. It reports whether this
// delivery has the lock. A repetition after a lost reply knows its own lock by the GUID.
func (d *Delivery) lock(r *request.Sender) (mine bool, err error) {
	data, stat, err := r.Get(d.item)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d.data, d.version = data, stat.Version+1
	ops := []any{
		&zk.CreateRequest{
			Path: d.lockPath(), Data: []byte(d.guid), Acl: d.q.tasks.Opts.ACL,
			Flags: zk.FlagEphemeral,
		},
		&zk.SetDataRequest{Path: d.item, Data: data, Version: stat.Version},
	}
	if d.version == -1 { // Ack and Release could not check for version -1
		d.version = 0
		ops = append(ops, &zk.SetDataRequest{Path: d.item, Data: data, Version: -1})
	}
	for {
		if err := r.Over(); err != nil {
			return false, err
		}
		failed, err := r.Multi(ops...)
		d.mayHold = d.mayHold || OutcomeOf(err) == Unknown
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return d.isMine(r)
		case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrBadVersion):
			return false, nil // the element was delivered meanwhile, or it or its directory is gone
		case request.Transient(err):
			err = r.Again(err)
		}
		if err != nil {
			return false, err
		}
	}
}

// isMine reports whether the lock belongs to this delivery.
func (d *Delivery) isMine(r *request.Sender) (bool, error) {
	owner, _, err := r.Get(d.lockPath())
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil && string(owner) == d.guid, err
}

// confirm checks that the lock belongs to the present session, and watches it. It returns
// request.ErrRestart if the lock does not.
func (d *Delivery) confirm(r *request.Sender) error {
	d.mayHold = true
	own, err := r.GetW(d.lockPath())
	switch {
	case errors.Is(err, zk.ErrNoNode), err == nil && string(own.Data) != d.guid:
		return request.ErrRestart
	case err != nil:
		return err
	}
	d.hold, err = hold.Of(r, d.lockPath(), own, d.unlock)
	return err
}

// Ack removes the element after the consumer's work. It returns nil when the element has been
// removed. It returns ErrDeliveryLost and changes nothing if the element was delivered again or is
// gone. While the connection is down it tries again until ctx is done. Even after the end of the
// session it succeeds if no other consumer has got the element.
//
// After an error that wraps ErrAmbiguous the element may have been removed; after any other error
// it has not been, and Ack may be called again as long as the delivery lasts. An error that wraps
// both ErrAmbiguous and ErrDeliveryLost says that the element is gone: either this consumer has
// removed it, or another one has got it and removed it.
func (d *Delivery) Ack(ctx context.Context) error {
	_, known, err := task.Run(ctx, d.q.tasks, func(
		r *request.Sender, _ *task.Task[struct{}],
	) (struct{}, error) {
		return struct{}{}, d.ack(r)
	})
	lost := errors.Is(err, ErrDeliveryLost)
	if err == nil || lost {
		d.end()
	}
	err = request.AmbiguousIf(!known || !lost && d.mayBeRemoved(), err)
	return d.q.tasks.Explain("acknowledge", err)
}

// ack removes the element and its lock together. If the lock has gone with its session, ack removes
// the element alone. The server refuses either if the element was delivered again. After an error,
// mayBeRemoved says whether the outcome is in doubt.
func (d *Delivery) ack(r *request.Sender) error {
	e := request.Epoch{Conn: d.q.tasks.Conn, Session: d.hold.Session}
	ops := []any{
		&zk.DeleteRequest{Path: d.item, Version: d.version}, &zk.DeleteRequest{
			Path: d.lockPath(), Version: -1,
		},
	}
	for {
		if err := r.Over(); err != nil {
			return err
		}
		failed, err := r.Multi(ops...)
		d.note(OutcomeOf(err))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNoNode) && failed == 0 && d.mayBeRemoved() && e.Check() == nil:
			return nil // the lock has kept all other consumers out
		case errors.Is(err, zk.ErrNoNode) && failed == 0:
			return request.AmbiguousIf(d.mayBeRemoved(), ErrDeliveryLost)
		case errors.Is(err, zk.ErrBadVersion):
			return ErrDeliveryLost
		case errors.Is(err, zk.ErrNoNode):
			ops = ops[:1]
			continue
		case !request.Transient(err):
			return err
		}
		if err := r.Again(err); err != nil {
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

// Release gives the element back to its old place in the queue. It changes nothing if the lock is
// gone or belongs to another delivery. If ctx is done before the confirmation by the server, it
// returns an error after a moment and goes on in the background.
func (d *Delivery) Release(ctx context.Context) error {
	_, known, err := d.startRelease().Await(ctx)
	err = request.AmbiguousIf(!known || errors.Is(err, ErrConnClosed), err)
	return d.q.tasks.Explain("release to", err)
}

// startRelease begins to give the element back, once.
func (d *Delivery) startRelease() *task.Task[struct{}] {
	d.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.released == nil {
		d.released = d.q.tasks.CleanUp(nil, d.unlock)
	}
	return d.released
}

// end closes Lost; the queue forgets the delivery.
func (d *Delivery) end() {
	d.hold.End()
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	d.q.held = slices.DeleteFunc(d.q.held, func(o *Delivery) bool { return o == d })
}

// unlock removes the lock if it belongs to this delivery. It returns when the server has confirmed
// that the lock is gone, when the server refuses, or when the Conn is closed. The version of the
// element distinguishes this lock from a later one of the same name.
func (d *Delivery) unlock(r *request.Sender) error {
	if !d.mayHold {
		return nil
	}
	r = r.Unbounded()
	err := r.Confirm(d.lockPath())
	mine := false
	if err == nil {
		mine, err = d.isMine(r)
	}
	if err != nil {
		return fmt.Errorf("look at %s to delete it: %w", d.lockPath(), err)
	}
	if !mine {
		return nil
	}
	failed, err := r.RepeatMulti(

		&zk.CheckVersionRequest{Path: d.item, Version: d.version},
		&zk.DeleteRequest{Path: d.lockPath(), Version: -1},
	)
	switch {
	case errors.Is(err, zk.ErrNoNode) && failed == 0:
		return r.Remove(d.lockPath()) // the element is gone, and its name with it
	case err == nil, errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrBadVersion):
		return nil
	}
	return fmt.Errorf("delete %s: %w", d.lockPath(), err)
}
