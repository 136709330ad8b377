package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// Lock is a fair mutual exclusion lock without herd: the lock recipe of the
// ZooKeeper guide, with the repairs that a decade of bug reports has brought
// (see below). Use one Lock per contender; several on one Conn, for the same
// path too, exclude each other like any others. Methods may be called from
// several goroutines.
//
// What it promises:
//   - Mutual exclusion at the server: the owner is the session with the lowest
//     live node. Lock returns nil only after the own node was read once more
//     and belongs to the session of the Conn at that moment.
//   - Fairness: waiters become owners in the order in which their nodes were
//     created. A waiter that loses its session starts again at the end.
//   - One release wakes one waiter: each watches its predecessor only.
//   - Token grows with every owner.
//   - No orphans: every node made here is removed by Unlock, by a Lock or
//     TryLock that fails, or with the session, even if replies are lost.
//
// On disconnect a waiter goes on waiting, and an owner stays owner, as its
// session may live on: pass SessionTimeout to be told when it may not. On
// expiry a waiter begins again in the new session; an owner's Lost is closed
// as soon as the client learns of it. A done context ends the wait and takes
// the waiter out of the queue; it does not end a hold.
//
// What it cannot promise: that an owner which is paused or cut off past its
// session's end knows about it. Use Token.
//
// Layout: <path>/_c_<guid>-lock-<sequence>, ephemeral, path itself persistent.
// The names are those of Curator's InterProcessMutex and of zk.Lock, which can
// contend for the same path; nodes of kazoo's Lock are respected. Other
// children are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Locks"; Curator's
// LockInternals; ZOOKEEPER-2931 and 4372 (order), CURATOR-45, 79, 190, 498 and
// 604 (creation), CURATOR-678 (release), etcd issue 9921 (confirmation).
type Lock struct{ handle }

// NewLock makes a handle for the lock at path, which is created when needed
// and must be used for this lock only. It sends nothing. The options that
// matter are ACL, Data, SessionTimeout and RecheckEvery.
func NewLock(conn Conn, path string, opts ...Option) *Lock {
	o := newOptions(opts)
	return &Lock{handle{conn: conn, path: path, opts: o, how: &lockQueue{dir: path, opts: o}}}
}

// lockQueue competes by a place in a queue of ephemeral sequential nodes.
type lockQueue struct {
	dir  string
	opts options
}

// acquire makes attempts, each with a name of its own, until one ends well.
func (q *lockQueue) acquire(ctx context.Context, r *requests, wait bool) (*hold, error) {
	return withRestarts(ctx, func() (*hold, error) { return q.attempt(ctx, r, wait) })
}

// withRestarts makes attempts for as long as they end with errRestart.
func withRestarts(ctx context.Context, attempt func() (*hold, error)) (*hold, error) {
	var restarts backoff
	for {
		held, err := attempt()
		if !errors.Is(err, errRestart) {
			return held, err
		}
		if err := restarts.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// attempt queues one node. Without a hold the node is removed again.
func (q *lockQueue) attempt(ctx context.Context, r *requests, wait bool) (*hold, error) {
	own, err := newProtected(q.dir, "lock-")
	if err != nil {
		return nil, err
	}
	err = own.create(ctx, r, q.opts.data, q.opts.acl)
	if err == nil {
		var held *hold
		held, err = q.stand(ctx, r, own, wait)
		if held != nil {
			return held, nil
		}
	}
	if errors.Is(err, ErrConnClosed) {
		return nil, err // the node goes with the session
	}
	return nil, firstOf(err, r.tidy(own.remove))
}

// stand waits in the queue until the own node is the lowest.
func (q *lockQueue) stand(ctx context.Context, r *requests, own *protected, wait bool) (*hold, error) {
	var watched string
	var watch <-chan zk.Event
	for {
		ahead, err := q.predecessor(ctx, r, own)
		if err != nil {
			return nil, err
		}
		if ahead == "" {
			return confirm(ctx, r, own.path, own.remove)
		}
		if !wait {
			return nil, nil
		}
		if watch == nil || watched != ahead {
			n, err := r.getW(ctx, join(q.dir, ahead))
			if errors.Is(err, zk.ErrNoNode) {
				continue // gone between the list and the watch
			}
			if err != nil {
				return nil, err
			}
			if r.conn.SessionID() != own.session {
				return nil, errRestart // read in a new session: the own node is gone
			}
			watched, watch = ahead, n.watch
		}
		fired, err := awaitEvent(ctx, watch, q.opts.recheck)
		if err != nil {
			return nil, err
		}
		if fired {
			watch = nil
		}
	}
}

// predecessor returns the name of the node just ahead of the own one, or "" if
// there is none. A list that holds the own node holds every older one that
// lives, however far the server lags behind: it has applied all that came
// before.
func (q *lockQueue) predecessor(ctx context.Context, r *requests, own *protected) (string, error) {
	names, err := r.children(ctx, q.dir)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return "", errRestart
	case err != nil:
		return "", err
	case r.conn.SessionID() != own.session:
		return "", errRestart
	}
	ahead := ""
	for _, n := range sortNumbered(names, lockMarkers...) {
		if n.name == own.name() {
			return ahead, nil
		}
		ahead = n.name
	}
	return "", errRestart
}

// awaitEvent waits for a watch. It reports false if it is time to look again
// without an event. A watch that ends with the session means errRestart. Of an
// event that is there already and a context that is done the event counts: a
// select alone would choose between them at random.
func awaitEvent(ctx context.Context, watch <-chan zk.Event, recheck time.Duration) (fired bool, err error) {
	select {
	case ev := <-watch:
		return true, watchError(ev)
	default:
	}
	var again <-chan time.Time
	if recheck > 0 {
		timer := time.NewTimer(recheck)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-again:
		return false, nil
	case ev := <-watch:
		return true, watchError(ev)
	}
}

// watchError is what the event of a watch means to a waiter: nil if it is to
// look again.
func watchError(ev zk.Event) error {
	switch {
	case errors.Is(ev.Err, zk.ErrClosing):
		return ErrConnClosed
	case ev.Err != nil:
		return errRestart
	}
	return nil
}

// firstOf returns err, or what went wrong with the clean-up after it. An
// attempt that could not be cleaned up must not be made again.
func firstOf(err, cleanup error) error {
	switch {
	case cleanup == nil:
		return err
	case err == nil || errors.Is(err, errRestart):
		return cleanup
	}
	return errors.Join(err, cleanup)
}
