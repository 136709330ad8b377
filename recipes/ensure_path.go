package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// EnsurePath creates the node at path and its parents, without data, where they are missing. It
// leaves existing nodes as they are. Many clients may call it at the same time.
//
// nil means that every level existed at some moment of the call; container nodes can be gone again.
// While the connection is down it repeats requests, and a new session makes no difference. After an
// error some of the levels may exist, which does no harm. If ctx is done, a request under way can
// still be applied. The options that matter are ACL, Containers and Retry.
func EnsurePath(ctx context.Context, conn Conn, path string, opts ...Option) error {
	l := newLifecycle(conn, "path", path, opts)
	return callAction(ctx, l, "ensure", func(ctx context.Context, r *requests) error {
		var missing backoff
		for {
			err := r.ensure(ctx, path)
			if !errors.Is(err, zk.ErrNoNode) {
				return ambiguous(err)
			}
			if err := missing.wait(ctx, nil, err); err != nil {
				return err // another client keeps deleting the levels
			}
		}
	})
}
