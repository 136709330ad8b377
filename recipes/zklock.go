package recipes

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// ClientLock gives the client's own zk.Lock the methods of a Locker, so that
// it can be compared with Lock. Its promises are those of zk.Lock v1.0.4:
//
//   - A context cannot cancel it: Lock looks at ctx once, before it begins, and
//     then waits for as long as zk.Lock does. The same holds for Unlock.
//   - It does not tell of a lost session, and has no token.
//   - When the session ends between creating its node and listing the
//     directory, it can return nil without owning anything.
//   - An error of Lock after the node was created leaves that node behind, and
//     the next Lock of the same session waits behind it.
//   - An Unlock whose reply is lost leaves the handle unusable: zk.ErrNoNode
//     from then on, and zk.ErrDeadlock from Lock.
//   - Sequence numbers that have wrapped break it, or, since ZooKeeper 3.6, that are
//     used up: then it can have two owners.
//
// On disconnect requests under way fail with zk.ErrConnectionClosed, which is
// returned. Layout: as Lock, with which it can share a path.
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

// Lock is zk.Lock.Lock. It does not begin if ctx is done, and cannot be
// cancelled afterwards.
func (c *ClientLock) Lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("client lock %s: %w", c.path, context.Cause(ctx))
	}
	if err := c.lock.Lock(); err != nil {
		return fmt.Errorf("client lock %s: %w", c.path, err)
	}
	return nil
}

// Unlock is zk.Lock.Unlock. It ignores ctx, as a lock must be given back after
// its context is done, too.
func (c *ClientLock) Unlock(context.Context) error {
	if err := c.lock.Unlock(); err != nil {
		return fmt.Errorf("client unlock %s: %w", c.path, err)
	}
	return nil
}
