package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// fixed is an ephemeral node of a given name, such as that of an instance in a registry. Two fixed
// values with one name on one session would take the same node for theirs, so use a name once per
// session.
type fixed struct {
	path  string
	epoch epoch    // of the latest creation request; zero: none was sent
	stat  *zk.Stat // read after the creation

	doubtful bool // a creation may have been applied
}

// create makes the node, parents included, unless an earlier request of this session has made it.
// zk.ErrNodeExists means that the node belongs to another session, perhaps an ended one of this
// process. errRestart means that the session has ended meanwhile. After any other error the caller
// must call remove.
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

// confirm reads the node. A nil error why says that it was created just now; otherwise it existed
// already.
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

// remove deletes the node if it belongs to the present session. It returns when the server has
// confirmed or refused that, or when the Conn is closed. The node of an ended session goes with
// that session. remove must spare the node of the next owner of the name, so it reads the owner
// before each request and sends the version that it has read.
//
// One window remains, as a request has a path and a version but no czxid. Another client may delete
// the node while the request is on its way. Or the connection may be lost just after the read, and
// the client sends the request later, perhaps in a new session. If a third client has made a node
// of the same version meanwhile, the request deletes that node.
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

// left returns the stat of the node if it belongs to the present session, and nil otherwise.
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
