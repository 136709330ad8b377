package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// EnsurePath creates the node at path and those above it, without data, where they are missing.
// Nodes that exist are left as they are. Many clients may call it at the same time.
//
// nil means that every level existed at some moment of the call; container nodes can be gone again.
// While the connection is down requests are repeated, and a new session changes nothing. After an
// error some of the levels may have been made, which does no harm; a request under way can still be
// applied if ctx is done. The options that matter are ACL, Containers and Retry.
func EnsurePath(ctx context.Context, conn Conn, path string, opts ...Option) error {
	l := newLifecycle(conn, "path", path, opts)
	return act(ctx, l, "ensure", func(ctx context.Context, r *requests) error {
		var missing backoff
		for {
			err := r.ensure(ctx, path)
			if !errors.Is(err, zk.ErrNoNode) {
				return ambiguous(err)
			}
			if err := missing.wait(ctx, nil, err); err != nil {
				return err // another client deletes the levels
			}
		}
	})
}
