package classic

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
)

// HerdLock is a lock in the form of one ephemeral node. The client that creates the node is the
// holder. The others watch it, and race to create it after its deletion. It needs no directory and
// no sequence numbers, so no node stays without a holder, and it never returns ErrNumbersUsedUp.
// Use it for many names with few contenders each. Otherwise use Lock: with n waiters each release
// of a HerdLock costs n notifications and n requests, and any waiter can be the next holder, so
// that another may wait for ever.
//
// Like Lock it guarantees mutual exclusion at the server, a Token that grows with every holder, and
// the removal of its nodes. A handle knows its own node by the GUID of the attempt and by the
// present session. So it does not wait for its own node after a lost reply, and does not own the
// node of an ended session.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock, except that
// a waiter has no place to lose. It cannot guarantee fairness, and has the limits of Lock.
//
// All contenders use the same name, so a deletion by name could hit the next holder's node, for
// instance if the request waits in the client while the session ends. The version does not help, as
// it is 0 for every holder, and a transaction cannot check a czxid. Therefore each holder has a
// second node with the GUID of its attempt in the name. One transaction creates both nodes, and one
// transaction deletes both; it fails as a whole if the second node is missing.
//
// Layout: <path>, ephemeral, data = GUID; <path>-<guid>, ephemeral. The parents are persistent.
//
// Sources: ZooKeeper guide, "Recipes and Solutions", on the herd effect; etcd issue 22082 (deleting
// another owner's key).
type HerdLock struct{ handle }

// NewHerdLock makes a handle for the lock with its node at path. It sends nothing. The options that
// matter are ACL, SessionTimeout, RecheckEvery, Retry and Containers.
func NewHerdLock(conn recipes.Conn, path string, opts ...recipes.Option) *HerdLock {
	o := request.NewOptions(opts)
	return &HerdLock{handle{hold.NewHandle(conn, path, o, &herd{path: path, opts: o})}}
}

// herd competes by creating one node of a fixed name.
type herd struct {
	path string
	opts request.Options
}

// Acquire makes attempts, each with its own GUID, until one ends well.
func (c *herd) Acquire(r *request.Sender, wait bool) (*hold.Hold, error) {
	return request.WithRestarts(r, func() (*hold.Hold, error) { return c.attempt(r, wait) })
}

func (c *herd) attempt(r *request.Sender, wait bool) (*hold.Hold, error) {
	guid, err := request.NewGUID()
	if err != nil {
		return nil, err
	}
	own := &flag{path: c.path, guid: guid}
	held, err := c.compete(r, own, wait)
	if held != nil {
		return held, nil
	}
	return nil, request.GiveBack(r, err, own.remove)
}

// compete creates the node. If another client has it, compete waits for its deletion and tries
// again.
func (c *herd) compete(r *request.Sender, own *flag, wait bool) (*hold.Hold, error) {
	for {
		if err := own.create(r); err != nil {
			return nil, err
		}
		n, err := r.GetW(c.path)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			continue // its owner has just left
		case err != nil:
			return nil, err
		case string(n.Data) == own.guid:
			return hold.Of(r, c.path, n, own.remove)
		case !wait:
			return nil, nil
		}
		r.NoteWaiting()
		if _, err := request.AwaitEvent(r.Ctx, n.Watch, c.opts.Recheck); err != nil {
			return nil, err
		}
	}
}

// flag is the node that stands for ownership. The receipt is a second node with the holder's GUID
// in its name.
type flag struct {
	path, guid   string
	maybeCreated bool // a creation may have been applied
}

func (f *flag) receipt() string { return f.path + "-" + f.guid }

// create creates both nodes, unless the flag exists; the existing flag may be its own. A repetition
// is safe: it fails if the first request was applied.
func (f *flag) create(r *request.Sender) error {
	for {
		if err := r.Over(); err != nil {
			return err
		}
		failed, err := r.Multi(
			&zk.CreateRequest{
				Path: f.path, Data: []byte(f.guid), Acl: r.Opts.ACL, Flags: zk.FlagEphemeral,
			},
			&zk.CreateRequest{
				Path: f.receipt(), Data: nil, Acl: r.Opts.ACL, Flags: zk.FlagEphemeral,
			},
		)
		f.maybeCreated = f.maybeCreated || recipes.OutcomeOf(err) != recipes.NotApplied
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNodeExists) && failed == 0:
			return nil
		case errors.Is(err, zk.ErrNodeExists):
			return request.ErrRestart // another client has deleted the flag, not the receipt
		case errors.Is(err, zk.ErrNoNode):
			err = r.EnsureDir(request.Parent(f.path))
		case request.Transient(err):
			err = r.Again(err)
		}
		if err != nil {
			return err
		}
	}
}

// remove deletes the own flag, and never that of another holder.
func (f *flag) remove(r *request.Sender) error {
	if !f.maybeCreated {
		return nil
	}
	failed, err := r.Unbounded().RepeatMulti(

		&zk.DeleteRequest{Path: f.receipt(), Version: -1},
		&zk.DeleteRequest{Path: f.path, Version: -1},
	)
	switch {
	case err == nil, errors.Is(err, zk.ErrNoNode) && failed == 0:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		return r.Remove(f.receipt()) // another client has deleted the flag
	}
	return fmt.Errorf("delete %s: %w", f.path, err)
}
