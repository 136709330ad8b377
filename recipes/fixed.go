package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// fixed is an ephemeral node of a given name, such as that of an instance in a registry. Two fixed
// nodes of one name on one session mistake each other's node for their own, so use a name once per
// session.
type fixed struct {
	path  string
	epoch epoch    // in which it was made; zero: it was not
	stat  *zk.Stat // as it was when it was made

	doubtful bool // a creation with unknown outcome has happened
}

// create makes the node, parents included, or finds that an earlier request of this session has
// made it. zk.ErrNodeExists means that it is there and belongs to another session, perhaps an ended
// one of this process; errRestart that the session has ended meanwhile. After another error remove
// must be called.
func (f *fixed) create(ctx context.Context, r *requests, data []byte) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f.epoch = r.epoch()
		err := f.createOnce(r, data)
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists):
			return f.confirm(ctx, r, err)
		case errors.Is(err, zk.ErrNoNode):
			err = r.ensureDir(ctx, parent(f.path))
		case transient(err):
			err = r.again(ctx, err)
		}
		if err != nil {
			return err
		}
	}
}

// createOnce sends the creation once.
func (f *fixed) createOnce(r *requests, data []byte) error {
	return r.do(func() error {
		_, err := r.conn.Create(f.path, data, zk.FlagEphemeral, r.opts.acl)
		f.doubtful = f.doubtful || OutcomeOf(err) != NotApplied
		return err
	})
}

// confirm reads the node that was created, or found: then why is not nil.
func (f *fixed) confirm(ctx context.Context, r *requests, why error) error {
	_, stat, err := r.get(ctx, f.path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return errRestart
	case err != nil:
		return err
	case f.epoch.owns(stat):
		f.stat = stat
		return nil
	case stat.EphemeralOwner == r.conn.SessionID():
		return errRestart // made in a session that has begun meanwhile
	}
	if why == nil {
		why = errRestart
	}
	return why
}

// remove deletes the node if it belongs to the present session, and returns only when the server
// has confirmed or refused that, or the Conn is closed. The node of an ended session goes with it.
// So that the next owner of the name keeps its node, the owner is read before each request, and the
// request names the version that was read.
//
// One window remains, as a request cannot name the node that it is meant for. The node may be
// deleted by another client while the request is on its way, or the connection may be lost just
// after the owner was read, so that the client sends the request later, perhaps in a new session.
// If a third client has made a node of the same version meanwhile, that is deleted.
func (f *fixed) remove(r *requests) error {
	if !f.doubtful {
		return nil
	}
	ctx := context.Background()
	var tries backoff
	for {
		stat, err := f.left(ctx, r)
		if err != nil {
			return fmt.Errorf("look at %s to delete it: %w", f.path, err)
		}
		if stat == nil {
			return nil
		}
		err = r.do(func() error { return r.conn.Delete(f.path, stat.Version) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !transient(err) && !errors.Is(err, zk.ErrBadVersion):
			return fmt.Errorf("delete %s: %w", f.path, err)
		}
		if err := tries.wait(ctx, nil, err); err != nil {
			return err
		}
	}
}

// left returns the stat of the node if it is there and belongs to the present session.
func (f *fixed) left(ctx context.Context, r *requests) (*zk.Stat, error) {
	if err := r.sync(ctx, f.path); err != nil {
		return nil, err
	}
	_, stat, err := r.get(ctx, f.path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil:
		return nil, err
	case !r.epoch().owns(stat):
		return nil, nil
	}
	return stat, nil
}
