package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Barrier is a gate that blocks all its waiters as long as its node exists. Any client may set and
// remove it. Methods may be called from several goroutines.
//
// It guarantees, for each call:
//
//   - Wait returns nil only if the barrier was down at some moment of the call. Once it is down and
//     stays down, all Waits return. A barrier that was removed and set again between two looks of a
//     Wait is a new one: Wait returns.
//   - Set that returns nil has found the barrier up, or has set it, at some moment of the call;
//     Remove likewise for down. Remove takes one barrier down at most: a repetition after a lost
//     reply does not hit one that was set meanwhile.
//
// When the connection is lost, calls wait for it; when the session ends, they go on in the new one,
// as nothing here is ephemeral. A done context ends a call. If its change was sent and not
// answered, the error wraps ErrAmbiguous.
//
// It cannot guarantee that a barrier comes down after its setter has died, as only Remove takes it
// down; that waiters still wait when Set returns; or that a Set with a lost reply sets the barrier
// only once, if another client removes it meanwhile. One Remove wakes all waiters: that is its
// purpose.
//
// Layout: path itself, persistent, with the data set by Data. The parents are persistent.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Barriers"; Curator's DistributedBarrier;
// Curator issue 1290 (a wait that ends by any event).
type Barrier struct {
	*lifecycle
	gate nodeWatch
}

// NewBarrier makes a handle for the barrier at path. It sends nothing. The options that matter are
// ACL, Data, RecheckEvery, Retry and Containers.
func NewBarrier(conn Conn, path string, opts ...Option) *Barrier {
	return &Barrier{
		lifecycle: newLifecycle(conn, "barrier", path, opts), gate: nodeWatch{path: path},
	}
}

// Set puts the barrier up, unless it is up.
func (b *Barrier) Set(ctx context.Context) error {
	return act(ctx, b.lifecycle, "set", b.set)
}

// Remove takes the barrier down, if it is up. All waiters pass.
func (b *Barrier) Remove(ctx context.Context) error {
	return act(ctx, b.lifecycle, "remove", b.remove)
}

// Wait waits until the barrier is down; it returns at once if it is not up.
func (b *Barrier) Wait(ctx context.Context) error {
	_, err := ask(ctx, b.lifecycle, "wait at", func(
		ctx context.Context, r *requests,
	) (struct{}, error) {
		return struct{}{}, b.wait(ctx, r)
	})
	return err
}

// IsSet reports whether the barrier was up at some moment during the call.
func (b *Barrier) IsSet(ctx context.Context) (bool, error) {
	return ask(ctx, b.lifecycle, "look at", func(ctx context.Context, r *requests) (bool, error) {
		stat, err := b.look(ctx, r)
		return stat != nil, err
	})
}

func (b *Barrier) set(ctx context.Context, r *requests) error {
	doubtful := false
	for {
		if ctx.Err() != nil {
			return doubtOf(doubtful, context.Cause(ctx))
		}
		err := r.do(func() error {
			_, err := r.conn.Create(b.path, b.opts.data, 0, r.opts.acl)
			return err
		})
		doubtful = doubtful || OutcomeOf(err) == Unknown
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists):
			return nil
		case errors.Is(err, zk.ErrNoNode):
			err = r.ensureDir(ctx, parent(b.path))
		case transient(err):
			err = r.again(ctx, err)
		}
		if err != nil {
			return doubtOf(doubtful, err)
		}
	}
}

// remove deletes the node once. If the reply is lost, it deletes again only if the same node still
// exists.
func (b *Barrier) remove(ctx context.Context, r *requests) error {
	doubted := int64(0) // czxid of a node that may be deleted already
	for {
		stat, err := b.look(ctx, r)
		if stat == nil || err != nil || doubted != 0 && stat.Czxid != doubted {
			return doubtOf(doubted != 0, err)
		}
		if ctx.Err() != nil {
			return doubtOf(doubted != 0, context.Cause(ctx))
		}
		err = r.do(func() error { return r.conn.Delete(b.path, -1) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !transient(err):
			return doubtOf(doubted != 0 || OutcomeOf(err) == Unknown, err)
		case OutcomeOf(err) == Unknown:
			doubted = stat.Czxid
		}
		if err := r.again(ctx, err); err != nil {
			return doubtOf(doubted != 0, err)
		}
	}
}

// look reads the node as it is at some moment during the call, nil if there is none.
func (b *Barrier) look(ctx context.Context, r *requests) (*zk.Stat, error) {
	return freshly(ctx, r, b.path, func() (*zk.Stat, error) { return r.exists(ctx, b.path) })
}

// wait looks until there is no node, or another than at first.
func (b *Barrier) wait(ctx context.Context, r *requests) error {
	first := int64(0)
	return b.gate.until(ctx, r, epoch{}, func() (*watch, bool, error) {
		_, stat, w, err := b.gate.data(ctx, r) // which leaves no watch when there is no node
		if errors.Is(err, zk.ErrNoNode) {
			return nil, true, nil
		}
		if err != nil {
			return nil, false, err
		}
		if first == 0 {
			first = stat.Czxid
		}
		return w, stat.Czxid != first, nil
	})
}
