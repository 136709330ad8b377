package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// HerdLock is the simple lock of textbooks: whoever creates the one node owns
// the lock, everybody else watches it, and its deletion wakes them all to race
// again. It is here for teaching and comparison. It is safe, but n waiters
// cost n notifications and n writes per release, and the order in which they
// become owners is arbitrary: nothing protects one of them from starving. Use
// Lock.
//
// What it promises: mutual exclusion at the server, a Token that grows with
// every owner, and no orphans, as Lock does. It takes itself for the owner
// only if the node carries the GUID of its own attempt and belongs to the
// current session of the Conn, so a lost reply to its creation does not make
// it wait for itself, and the node that an ended session has left behind is
// not adopted.
//
// The node's name is the same for everybody, so deleting it by name could hit
// the next owner's node, for instance when a delete waits in the client
// while the session ends. Neither the version helps, being 0 for every
// owner, nor can a transaction check a czxid. Therefore each owner has a
// second node with the attempt's GUID in its name, created and deleted in one
// transaction with the first: without it the deletion fails as a whole.
//
// On disconnect, on expiry, on cancellation, and what cannot be promised: as
// Lock, but a waiter has no place to lose.
//
// Layout: <path>, ephemeral, data = GUID; <path>-<guid>, ephemeral. The
// parents are persistent.
//
// Source: ZooKeeper guide, "Recipes and Solutions", on the herd effect; etcd
// issue 22082 (deleting another owner's key).
type HerdLock struct{ *handle }

// NewHerdLock makes a handle for the lock whose node is at path. It sends
// nothing. The options that matter are ACL, SessionTimeout, RecheckEvery, Retry
// and Containers.
func NewHerdLock(conn Conn, path string, opts ...Option) *HerdLock {
	return &HerdLock{newHandle(conn, path, opts, &herd{path: path, opts: newOptions(opts)})}
}

// herd competes by creating one node of a fixed name.
type herd struct {
	path string
	opts options
}

// acquire makes attempts, each with a GUID of its own, until one ends well.
func (c *herd) acquire(ctx context.Context, r *requests, wait bool) (*hold, error) {
	return withRestarts(ctx, func() (*hold, error) { return c.attempt(ctx, r, wait) })
}

func (c *herd) attempt(ctx context.Context, r *requests, wait bool) (*hold, error) {
	guid, err := newGUID()
	if err != nil {
		return nil, err
	}
	own := &flag{path: c.path, guid: guid}
	held, err := c.compete(ctx, r, own, wait)
	if held != nil {
		return held, nil
	}
	return nil, giveBack(r, err, own.remove)
}

// compete creates the node, or waits for it to go and tries again.
func (c *herd) compete(ctx context.Context, r *requests, own *flag, wait bool) (*hold, error) {
	for {
		if err := own.create(ctx, r); err != nil {
			return nil, err
		}
		n, err := r.getW(ctx, c.path)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			continue // its owner has just left
		case err != nil:
			return nil, err
		case string(n.data) == own.guid:
			return holdOf(r, c.path, n, own.remove)
		case !wait:
			return nil, nil
		}
		if _, err := awaitEvent(ctx, n.watch, c.opts.recheck); err != nil {
			return nil, err
		}
	}
}

// flag is the node that stands for ownership, together with the receipt that
// says whose it is.
type flag struct {
	path, guid string
	raised     bool // it may be on the server
}

func (f *flag) receipt() string { return f.path + "-" + f.guid }

// create raises the flag, unless somebody's is up, our own perhaps. It may be
// repeated: the second time fails if the first has been applied.
func (f *flag) create(ctx context.Context, r *requests) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed, err := r.multi(
			&zk.CreateRequest{Path: f.path, Data: []byte(f.guid), Acl: r.opts.acl, Flags: zk.FlagEphemeral},
			&zk.CreateRequest{Path: f.receipt(), Data: nil, Acl: r.opts.acl, Flags: zk.FlagEphemeral},
		)
		f.raised = f.raised || OutcomeOf(err) != NotApplied
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return nil
		case errors.Is(err, zk.ErrNodeExists):
			return errRestart // somebody deleted our node, but not the receipt
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

// remove lowers our flag and nobody else's.
func (f *flag) remove(r *requests) error {
	if !f.raised {
		return nil
	}
	failed, err := r.repeatMulti(
		&zk.DeleteRequest{Path: f.receipt(), Version: -1},
		&zk.DeleteRequest{Path: f.path, Version: -1},
	)
	switch {
	case err == nil, errors.Is(err, zk.ErrNoNode) && failed == 0:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		return r.remove(f.receipt()) // somebody else has deleted the flag
	}
	return fmt.Errorf("delete %s: %w", f.path, err)
}
