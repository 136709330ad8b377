package classic

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// ClientLock gives the client's own zk.Lock the methods of recipes.Lock, so that the two can be
// compared. It has the guarantees of zk.Lock v1.0.4: as long as no connection is lost, there is one
// holder at a time, in the order of the nodes. Its faults:
//
//   - If Lock fails after the creation of the node, that node stays, and the next Lock waits behind
//     it for as long as the session lives.
//   - A lost reply to Unlock leaves the handle unusable: Unlock returns zk.ErrNoNode from then on,
//     and Lock zk.ErrDeadlock.
//   - When the session ends between the creation of the node and the list of the directory, Lock
//     can return nil without owning the lock.
//   - It can have two holders when the sequence numbers have wrapped, or are used up (since
//     ZooKeeper 3.6).
//   - A context cannot cancel it: Lock checks ctx once at the beginning, and then waits for as long
//     as zk.Lock does. Unlock ignores its context.
//   - It does not report a lost session, and has no token.
//
// When the connection is lost, requests under way fail, and the method returns
// zk.ErrConnectionClosed. The layout is that of recipes.Lock, and both can share a path.
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

// Lock is zk.Lock.Lock. It returns at once if ctx is done, and cannot be cancelled afterwards.
func (c *ClientLock) Lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("client lock %s: %w", c.path, context.Cause(ctx))
	}
	if err := c.lock.Lock(); err != nil {
		return fmt.Errorf("client lock %s: %w", c.path, err)
	}
	return nil
}

// Unlock is zk.Lock.Unlock. It ignores ctx, as a lock must be given back even after its context is
// done.
func (c *ClientLock) Unlock(context.Context) error {
	if err := c.lock.Unlock(); err != nil {
		return fmt.Errorf("client unlock %s: %w", c.path, err)
	}
	return nil
}
