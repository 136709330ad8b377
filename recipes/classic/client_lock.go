package classic

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// ClientLock gives the client's own zk.Lock the methods of recipes.Lock, so that the two can be
// compared. It has the guarantees of zk.Lock v1.0.4: without losses, one owner at a time, in the
// order of the nodes. Its faults:
//
//   - An error of Lock after the node was created leaves that node behind, and the next Lock waits
//     behind it for as long as the session lives.
//   - A lost reply to Unlock leaves the handle unusable: Unlock returns zk.ErrNoNode from then on,
//     and Lock zk.ErrDeadlock.
//   - When the session ends between the creation of the node and the list of the directory, Lock
//     can return nil although the lock is not owned.
//   - Sequence numbers that have wrapped break it, and numbers that are used up, as they can be
//     since ZooKeeper 3.6: then it can have two owners.
//   - A context cannot cancel it: Lock looks at ctx once, before it begins, and then waits for as
//     long as zk.Lock does. Unlock ignores it.
//   - It does not tell of a lost session, and has no token.
//
// On disconnect requests under way fail with zk.ErrConnectionClosed, which is returned. Layout: as
// recipes.Lock, with which it can share a path.
//
// Source: lock.go of github.com/go-zookeeper/zk.
type ClientLock struct {
	path string
	lock *zk.Lock
}

// NewClientLock makes a handle for the lock at path. It sends nothing.
func NewClientLock(conn *zk.Conn, path string, acl []zk.ACL) *ClientLock {
	return &ClientLock{path: path, lock: zk.NewLock(conn, path, slices.Clone(acl))}
}

// Lock is zk.Lock.Lock. It does not begin if ctx is done, and cannot be cancelled afterwards.
func (c *ClientLock) Lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("client lock %s: %w", c.path, context.Cause(ctx))
	}
	if err := c.lock.Lock(); err != nil {
		return fmt.Errorf("client lock %s: %w", c.path, err)
	}
	return nil
}

// Unlock is zk.Lock.Unlock. It ignores ctx, as a lock must be given back after its context is done,
// too.
func (c *ClientLock) Unlock(context.Context) error {
	if err := c.lock.Unlock(); err != nil {
		return fmt.Errorf("client unlock %s: %w", c.path, err)
	}
	return nil
}
