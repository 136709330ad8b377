package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// HerdLock is a lock that is one ephemeral node: the client that creates it is the owner, the
// others watch it, and its deletion lets them race again. It needs no directory and no sequence
// numbers, so nothing stays without an owner, and it never returns ErrNumbersUsedUp. Use it for
// many names with few contenders each. Otherwise use Lock: here n waiters cost n notifications and
// n requests for each release, and the next owner is any of them, so that a waiter may wait for
// ever.
//
// It guarantees: mutual exclusion at the server, a Token that grows with every owner, and nothing
// left behind, as Lock does. A lost reply does not make it wait for itself, and the node of an
// ended session is not taken for its own: the node must carry the GUID of the attempt and belong to
// the present session.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock, except that
// a waiter has no place to lose. It cannot guarantee fairness, and has the limits of Lock.
//
// The node's name is the same for all contenders, so a delete by name could hit the next owner's
// node, for instance when it waits in the client while the session ends. The version does not help,
// as it is 0 for every owner, and a transaction cannot check a czxid. Therefore each owner has a
// second node with the GUID of its attempt in the name. Both are created in one transaction and
// deleted in one transaction, which fails as a whole without the second node.
//
// Layout: <path>, ephemeral, data = GUID; <path>-<guid>, ephemeral. The parents are persistent.
//
// Sources: ZooKeeper guide, "Recipes and Solutions", on the herd effect; etcd issue 22082 (deleting
// another owner's key).
type HerdLock struct{ *handle }

// NewHerdLock makes a handle for the lock with its node at path. It sends nothing. The options that
// matter are ACL, SessionTimeout, RecheckEvery, Retry and Containers.
func NewHerdLock(conn Conn, path string, opts ...Option) *HerdLock {
	return &HerdLock{newHandle(conn, path, opts, &herd{path: path, opts: newOptions(opts)})}
}

// herd competes by creating one node of a fixed name.
type herd struct {
	path string
	opts options
}

// acquire makes attempts, each with its own GUID, until one ends well.
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
		r.waits()
		if _, err := awaitEvent(ctx, n.watch, c.opts.recheck); err != nil {
			return nil, err
		}
	}
}

// flag is the node that stands for ownership, together with the receipt that bears the owner's
// GUID.
type flag struct {
	path, guid string
	raised     bool // it may be on the server
}

func (f *flag) receipt() string { return f.path + "-" + f.guid }

// create raises the flag, unless one is up, perhaps the own. It may be repeated: the second time
// fails if the first has been applied.
func (f *flag) create(ctx context.Context, r *requests) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed, err := r.multi(
			&zk.CreateRequest{
				Path: f.path, Data: []byte(f.guid), Acl: r.opts.acl, Flags: zk.FlagEphemeral,
			},
			&zk.CreateRequest{
				Path: f.receipt(), Data: nil, Acl: r.opts.acl, Flags: zk.FlagEphemeral,
			},
		)
		f.raised = f.raised || OutcomeOf(err) != NotApplied
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return nil
		case errors.Is(err, zk.ErrNodeExists):
			return errRestart // another client has deleted the flag, not the receipt
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

// remove lowers the own flag, and no other.
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
		return r.remove(f.receipt()) // another client has deleted the flag
	}
	return fmt.Errorf("delete %s: %w", f.path, err)
}
