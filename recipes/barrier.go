package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Barrier is a gate that blocks all waiters while its node exists. Any client may set and remove
// it. Methods may be called from several goroutines.
//
// It guarantees, for each call:
//
//   - Wait returns nil only if the barrier was down at some moment of the call. If the barrier
//     stays down, every Wait returns. A barrier that is removed and set again is another barrier,
//     and a Wait for the first one returns.
//   - After Set has returned nil, the barrier was up at some moment of the call; after Remove has
//     returned nil, it was down. One Remove removes one barrier at most: a repetition after a lost
//     reply spares a barrier that was set meanwhile.
//
// When the connection is lost, calls wait for it; when the session ends, they go on in the new one,
// as nothing here is ephemeral. A done context ends a call. The error wraps ErrAmbiguous if a
// change was sent and the reply has not come.
//
// It cannot guarantee that a barrier comes down when its setter dies: only Remove removes it. The
// barrier can be down again when Set returns. A Set that has lost a reply can set the barrier twice
// if another client removes it in between. One Remove wakes all waiters by design.
//
// Layout: path itself, persistent, with the data set by Data. The parents are persistent.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Barriers"; Curator's DistributedBarrier;
// Curator issue 1290 (any event ends a wait).
type Barrier struct {
	lifecycle
	gate request.NodeWatch
}

// NewBarrier makes a handle for the barrier at path. It sends nothing. The options that matter are
// ACL, Data, RecheckEvery, Retry and Containers.
func NewBarrier(conn Conn, path string, opts ...Option) *Barrier {
	return &Barrier{
		lifecycle: newLifecycle(conn, "barrier", path, opts), gate: request.NodeWatch{Path: path},
	}
}

// Set puts the barrier up, unless it is up.
func (b *Barrier) Set(ctx context.Context) error {
	return task.Act(ctx, b.tasks, "set", b.set)
}

// Remove takes the barrier down, if it is up. All waiters pass.
func (b *Barrier) Remove(ctx context.Context) error {
	return task.Act(ctx, b.tasks, "remove", b.remove)
}

// Wait waits until the barrier is down; it returns at once if it is not up.
func (b *Barrier) Wait(ctx context.Context) error {
	_, err := task.Ask(ctx, b.tasks, "wait at", func(r *request.Sender) (struct{}, error) {
		return struct{}{}, b.wait(r)
	})
	return err
}

// IsSet reports whether the barrier was up at some moment during the call. It sends a write that
// changes nothing before it looks, as Wait and Remove do; see SyncOnly.
func (b *Barrier) IsSet(ctx context.Context) (bool, error) {
	return task.Ask(ctx, b.tasks, "look at", func(r *request.Sender) (bool, error) {
		stat, err := b.look(r)
		return stat != nil, err
	})
}

func (b *Barrier) set(r *request.Sender) error {
	doubtful := false
	for {
		if err := r.Over(); err != nil {
			return request.AmbiguousIf(doubtful, err)
		}
		err := r.Do(func() error {
			_, err := r.Conn.Create(b.tasks.Path, b.tasks.Opts.Data, 0, r.Opts.ACL)
			return err
		})
		doubtful = doubtful || OutcomeOf(err) == Unknown
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists):
			return nil
		case errors.Is(err, zk.ErrNoNode):
			err = r.EnsureDir(request.Parent(b.tasks.Path))
		case request.Transient(err):
			err = r.Again(err)
		}
		if err != nil {
			return request.AmbiguousIf(doubtful, err)
		}
	}
}

// remove deletes the node. After a lost reply it repeats the request only if the same node still
// exists.
func (b *Barrier) remove(r *request.Sender) error {
	doubted := int64(0) // czxid of a node that an earlier request may have deleted
	for {
		stat, err := b.look(r)
		if stat == nil || err != nil || doubted != 0 && stat.Czxid != doubted {
			return request.AmbiguousIf(doubted != 0, err)
		}
		if err := r.Over(); err != nil {
			return request.AmbiguousIf(doubted != 0, err)
		}
		err = r.Do(func() error { return r.Conn.Delete(b.tasks.Path, -1) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !request.Transient(err):
			return request.AmbiguousIf(doubted != 0 || OutcomeOf(err) == Unknown, err)
		case OutcomeOf(err) == Unknown:
			doubted = stat.Czxid
		}
		if err := r.Again(err); err != nil {
			return request.AmbiguousIf(doubted != 0, err)
		}
	}
}

// look returns the stat of the node at some moment of the call, or nil if the node is missing.
func (b *Barrier) look(r *request.Sender) (*zk.Stat, error) {
	return request.FreshResult(r, b.tasks.Path, func() (*zk.Stat, error) {
		return r.Exists(b.tasks.Path)
	})
}

// wait returns when the node is missing or is not the node that the first look found.
func (b *Barrier) wait(r *request.Sender) error {
	first := int64(0)
	return b.gate.Until(r, request.Epoch{}, func() (*request.Watch, bool, error) {
		_, stat, w, err := b.gate.Data(r) // no watch stays if the node is missing
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
